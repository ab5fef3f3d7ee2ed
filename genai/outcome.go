package genai

import (
	"fmt"

	"github.com/infertel/infertel-go/internal/safeerror"
)

// Outcome is how a call ended.
type Outcome uint8

// The ways a call can end. All but OutcomeSuccess set the span status to ERROR.
const (
	OutcomeSuccess      Outcome = iota
	OutcomeHTTPError            // the answer has a status of 400 or more
	OutcomeStreamError          // an error object stood in the answer
	OutcomeTruncated            // the answer ended before it was complete
	OutcomeDisconnected         // the client left or the context was cancelled
	OutcomeTransport            // the server could not be reached, or the connection broke
	OutcomePanic                // the handler panicked
	OutcomeAborted              // the engine finished a choice with the reason abort
	OutcomeError                // any other error
)

var outcomeNames = [...]string{
	"success", "http_error", "stream_error", "truncated", "disconnected", "transport_error", "panic", "aborted", "error",
}

// String returns the outcome in lower case, such as "truncated".
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return fmt.Sprintf("Outcome(%d)", uint8(o))
}

// Error is a failure of a call in words that are safe to record.
type Error struct {
	// Outcome is how the call ended. Zero means OutcomeError here.
	Outcome Outcome
	// Description becomes the description of the span status. It must hold
	// nothing that a user typed.
	Description string
	// Type is a short class such as BadRequestError, the value of error.type
	// under [WithErrorType]. Empty: the outcome's name.
	Type string
}

// Error returns the description.
func (e *Error) Error() string {
	if e == nil {
		return "<nil>"
	}
	return e.Description
}

// describe turns err into an Error, nil if there is none. A nil *Error is no
// error.
func describe(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := safeerror.As[*Error](err); ok {
		if e != nil && e.Outcome == OutcomeSuccess {
			return &Error{Outcome: OutcomeError, Description: e.Description, Type: e.Type}
		}
		return e
	}
	description, typeName := safeerror.Describe(err)
	if typeName == "" {
		return &Error{Outcome: OutcomeDisconnected, Description: description}
	}
	return &Error{Outcome: OutcomeError, Description: description, Type: typeName}
}

func (e *Error) typeName() string {
	if e.Type != "" {
		return e.Type
	}
	return e.Outcome.String()
}
