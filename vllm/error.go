package vllm

import (
	"context"
	"errors"
	"fmt"
)

// Error is a failure of a request in words that are safe to record. Of another
// error in [OutcomeV1.Err] or [OutcomeV0.Err] only the Go type is recorded.
type Error struct {
	// Description becomes the description of the span status, of which 256 bytes
	// are recorded. It must hold nothing that a user typed.
	Description string
}

// Error returns the description.
func (e *Error) Error() string {
	if e == nil {
		return "<nil>"
	}
	return e.Description
}

// describe turns err into an Error, nil if there is none. The text of an error
// that is not ours can quote a prompt (engines do so when they refuse a request),
// so only its Go type is told. A nil *Error is no error.
func describe(err error) (failure *Error) {
	if err == nil {
		return nil
	}
	defer func() {
		// The methods with which errors are told apart are foreign code, which may
		// not expect a nil pointer.
		if recover() != nil {
			failure = ofType(err)
		}
	}()
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled):
		return &Error{Description: "the client disconnected or the request was cancelled"}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Description: "the deadline of the request passed"}
	}
	return ofType(err)
}

func ofType(err error) *Error {
	return &Error{Description: fmt.Sprintf("failed with an error of type %T", err)}
}
