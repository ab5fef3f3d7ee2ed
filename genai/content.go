package genai

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ContentMode says where the messages of requests and answers are recorded: on
// the entry span (gen_ai.input.messages, gen_ai.output.messages) or as the log
// event. Source: log event gen_ai.client.inference.operation.details.
type ContentMode uint8

// The content modes. Messages can hold anything a user typed, so nothing is
// recorded by default.
const (
	ContentNone         ContentMode = iota // nowhere
	ContentSpan                            // as span attributes, in JSON
	ContentEvent                           // as the log event, structured
	ContentSpanAndEvent                    // both
)

// The environment variables that set the content mode where no option does.
const (
	// EnvCaptureContent is NO_CONTENT (the default), SPAN_ONLY, EVENT_ONLY,
	// SPAN_AND_EVENT, true or false. An unknown value is reported and means
	// NO_CONTENT.
	EnvCaptureContent = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
	// EnvContentStrategy says where the value true of [EnvCaptureContent] puts
	// messages: span-attributes (the default) or event.
	EnvContentStrategy = "OTEL_INSTRUMENTATION_GENAI_MESSAGE_CONTENT_CAPTURE_STRATEGY"
	// EnvContentMaxLength is the length in bytes to which each text is cut. The
	// default is 8192.
	EnvContentMaxLength = "OTEL_INSTRUMENTATION_GENAI_MESSAGE_CONTENT_MAX_LENGTH"
)

const (
	defaultContentLength = 8192
	// maxContentLength bounds one text, maxContentTotal the texts of one
	// direction together, whatever a client sends.
	maxContentLength = 1 << 20
	maxContentTotal  = 1 << 20
)

func (m ContentMode) onSpan() bool  { return m == ContentSpan || m == ContentSpanAndEvent }
func (m ContentMode) onEvent() bool { return m == ContentEvent || m == ContentSpanAndEvent }

// contentFromEnv reads the mode from the environment. A value nobody knows
// means no content: leaking is worse than missing.
func contentFromEnv() (ContentMode, []error) {
	var errs []error
	toSpan, known := true, true
	switch s := env(EnvContentStrategy); s {
	case "", "span-attributes":
	case "event":
		toSpan = false
	default:
		known = false
		errs = append(errs, fmt.Errorf("genai: %s is %q, want span-attributes or event", EnvContentStrategy, s))
	}
	switch s := env(EnvCaptureContent); s {
	case "", "no_content", "false":
	case "span_only":
		return ContentSpan, errs
	case "event_only":
		return ContentEvent, errs
	case "span_and_event":
		return ContentSpanAndEvent, errs
	case "true":
		switch {
		case !known:
		case toSpan:
			return ContentSpan, errs
		default:
			return ContentEvent, errs
		}
	default:
		errs = append(errs, fmt.Errorf("genai: %s is %q, want NO_CONTENT, SPAN_ONLY, EVENT_ONLY, SPAN_AND_EVENT, true or false; no content is recorded", EnvCaptureContent, s))
	}
	return ContentNone, errs
}

func contentLengthFromEnv() (int, error) {
	s := env(EnvContentMaxLength)
	if s == "" {
		return defaultContentLength, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return defaultContentLength, fmt.Errorf("genai: %s is %q, want a number of bytes, 0 or more; %d is used", EnvContentMaxLength, s, defaultContentLength)
	}
	return n, nil
}

func env(name string) string { return strings.ToLower(strings.TrimSpace(os.Getenv(name))) }
