package safeerror

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"testing"
)

// decorated has methods that do not expect a nil pointer.
type decorated struct{ inner error }

func (d *decorated) Error() string        { return d.inner.Error() }
func (d *decorated) Unwrap() error        { return d.inner }
func (d *decorated) Is(target error) bool { return errors.Is(d.inner, target) }

func TestDescribe(t *testing.T) {
	const cancelled, deadline = "the client disconnected or the request was cancelled", "the deadline of the request passed"
	for name, c := range map[string]struct {
		err                   error
		description, typeName string
	}{
		"cancelled":     {fmt.Errorf("x: %w", context.Canceled), cancelled, ""},
		"deadline":      {&url.Error{Err: context.DeadlineExceeded}, deadline, ""},
		"in a tree":     {errors.Join(fs.ErrExist, &decorated{context.Canceled}), cancelled, ""},
		"foreign":       {errors.New("a prompt"), "failed with an error of type *errors.errorString", "*errors.errorString"},
		"nil pointer":   {(*decorated)(nil), "failed with an error of type *safeerror.decorated", "*safeerror.decorated"},
		"nil URL error": {(*url.Error)(nil), "failed with an error of type *url.Error", "*url.Error"},
		"none":          {nil, "failed with an error of type <nil>", "<nil>"},
	} {
		if description, typeName := Describe(c.err); description != c.description || typeName != c.typeName {
			t.Errorf("%s: %q, %q", name, description, typeName)
		}
	}
}

func TestAs(t *testing.T) {
	want := &fs.PathError{Op: "open"}
	if got, ok := As[*fs.PathError](&decorated{want}); !ok || got != want {
		t.Errorf("found %v, %v", got, ok)
	}
	for _, err := range []error{nil, fs.ErrExist, (*decorated)(nil), fmt.Errorf("x: %w", (*decorated)(nil))} {
		if got, ok := As[*fs.PathError](err); ok || got != nil {
			t.Errorf("%T: found %v", err, got)
		}
	}
}
