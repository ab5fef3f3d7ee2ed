package vllm

import "github.com/infertel/infertel-go/internal/safeerror"

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

// describe turns err into an Error, nil if there is none. A nil *Error is no
// error.
func describe(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := safeerror.As[*Error](err); ok {
		return e
	}
	description, _ := safeerror.Describe(err)
	return &Error{Description: description}
}
