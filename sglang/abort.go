package sglang

import (
	"strconv"

	"go.opentelemetry.io/otel/attribute"

	"github.com/infertel/infertel-go/internal/boundedtext"
	"github.com/infertel/infertel-go/semconv"
)

// AbortReason is why a request was aborted. It is written to thread spans, never
// to the request span. A text that is nil is left out, one that is empty
// is written. The description of the span's status holds the type and the status code
// alone, since a message may quote a prompt. Source: sglang.thread.
type AbortReason struct {
	// Type is the attribute type, such as "abort".
	Type *string
	// Message is the attribute message. 1024 bytes of it are kept.
	Message *string
	// StatusCode is the attribute status_code: the HTTP status that the request was
	// answered with. Nil: there is none.
	StatusCode *int
	// ErrType is the attribute err_type, such as "BadRequestError".
	ErrType *string
	// Reason is the attribute reason, for an end without the structure above. 1024
	// bytes of it are kept.
	Reason *string
}

// status is the description of a span's status.
func (w *AbortReason) status() string {
	text := "the request was aborted"
	if w.Type != nil && *w.Type != "" {
		text = boundedtext.Cut(*w.Type, maxLabel)
	}
	if w.StatusCode != nil {
		text += ", status code " + strconv.Itoa(*w.StatusCode)
	}
	return text
}

func (w *AbortReason) attributes() []attribute.KeyValue {
	var a []attribute.KeyValue
	add := func(text *string, limit int, of func(string) attribute.KeyValue) {
		if text != nil {
			a = append(a, of(boundedtext.Cut(*text, limit)))
		}
	}
	add(w.Type, boundedtext.MaxName, semconv.AbortType)
	add(w.Message, maxMessage, semconv.AbortMessage)
	if w.StatusCode != nil {
		a = append(a, semconv.AbortStatusCode(*w.StatusCode))
	}
	add(w.ErrType, boundedtext.MaxName, semconv.AbortErrType)
	add(w.Reason, maxMessage, semconv.AbortReason)
	return a
}
