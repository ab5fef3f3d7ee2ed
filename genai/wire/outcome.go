package wire

import (
	"fmt"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/internal/boundedtext"
	"github.com/infertel/infertel-go/internal/safeerror"
)

// outcome decides how the exchange ended.
func (x *Exchange) outcome(err error, complete bool) error {
	r := &x.response
	switch {
	case isPanic(err):
		return err
	case x.status >= 400:
		return statusError(x.status, r.errorType)
	case r.failed:
		description := "the server reported an error in its answer"
		if boundedtext.IsWord(r.errorType) {
			return &genai.Error{Outcome: genai.OutcomeStreamError, Type: r.errorType, Description: description + ": " + r.errorType}
		}
		return &genai.Error{Outcome: genai.OutcomeStreamError, Description: description}
	case complete:
		return nil
	case err != nil:
		return err
	case x.truncated():
		return errTruncated
	}
	return nil
}

func isPanic(err error) bool {
	if err == nil {
		return false
	}
	e, ok := safeerror.As[*genai.Error](err)
	return ok && e != nil && e.Outcome == genai.OutcomePanic
}

var errTruncated = &genai.Error{Outcome: genai.OutcomeTruncated, Description: "the answer was cut off before it was complete"}

// truncated reports whether an answer that is not complete should be.
func (x *Exchange) truncated() bool {
	r := &x.response
	switch {
	case !x.answered || x.responseBody.opaque || x.responseBody.isCurtailed():
		return false
	case r.stream:
		return true
	}
	// A document that was begun; what is not JSON at all says nothing, nor does
	// one whose encoding broke off.
	return r.bytes && !r.json.Failed() && x.responseBody.inflater == nil
}

func statusError(status int, errorType string) error {
	if boundedtext.IsWord(errorType) {
		return &genai.Error{Outcome: genai.OutcomeHTTPError, Type: errorType, Description: errorType}
	}
	text := fmt.Sprintf("HTTP %d", status)
	return &genai.Error{Outcome: genai.OutcomeHTTPError, Type: fmt.Sprint(status), Description: text}
}
