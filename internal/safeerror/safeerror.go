// Package safeerror tells errors of other code apart, whose methods may panic
// (many do not expect a nil pointer) and whose text may quote a prompt.
package safeerror

import (
	"context"
	"errors"
	"fmt"
)

// As returns the first error of type T in the tree of err.
func As[T error](err error) (found T, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	ok = errors.As(err, &found)
	return found, ok
}

// Is reports whether an error in the tree of err is target.
func Is(err, target error) (is bool) {
	defer func() {
		if recover() != nil {
			is = false
		}
	}()
	return errors.Is(err, target)
}

// Describe says why something failed. The errors of package context are
// described in words; of others the Go type is told, which is also returned
// alone, because engines quote the prompt when they refuse a request.
func Describe(err error) (description, typeName string) {
	switch {
	case Is(err, context.Canceled):
		return "the client disconnected or the request was cancelled", ""
	case Is(err, context.DeadlineExceeded):
		return "the deadline of the request passed", ""
	}
	typeName = fmt.Sprintf("%T", err)
	return "failed with an error of type " + typeName, typeName
}
