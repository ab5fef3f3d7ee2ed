package genai_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"

	"github.com/infertel/infertel-go/genai"
)

type quotingError struct{}

func (quotingError) Error() string { return "cannot answer: what is my secret?" }

// decorated has methods that do not expect a nil pointer.
type decorated struct{ inner error }

func (d *decorated) Error() string        { return d.inner.Error() }
func (d *decorated) Unwrap() error        { return d.inner }
func (d *decorated) Is(target error) bool { return errors.Is(d.inner, target) }

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		err     error
		message string
		outcome genai.Outcome
		kind    string
	}{
		{context.Canceled, "the client disconnected or the request was cancelled", genai.OutcomeDisconnected, "disconnected"},
		{fmt.Errorf("read: %w", context.DeadlineExceeded), "the deadline of the request passed", genai.OutcomeDisconnected, "disconnected"},
		{&genai.Error{Outcome: genai.OutcomeHTTPError, Description: "HTTP 503", Type: "503"}, "HTTP 503", genai.OutcomeHTTPError, "503"},
		{quotingError{}, "failed with an error of type genai_test.quotingError", genai.OutcomeError, "genai_test.quotingError"},
		{(*decorated)(nil), "failed with an error of type *genai_test.decorated", genai.OutcomeError, "*genai_test.decorated"},
		{(*url.Error)(nil), "failed with an error of type *url.Error", genai.OutcomeError, "*url.Error"},
	} {
		var f genai.Finished
		onEnd := genai.WithOnEnd(func(_ context.Context, got genai.Finished) { f = got })
		s := one(t, genai.Request{}, genai.Response{Usage: genai.Usage{InputTokens: new(3)}}, c.err, onEnd)
		if s.Status != "ERROR" || s.StatusMessage != c.message || f.Outcome != c.outcome || !errors.Is(f.Err, c.err) {
			t.Errorf("%v: status %s %q, outcome %v, error %v", c.err, s.Status, s.StatusMessage, f.Outcome, f.Err)
		}
		if s.Attrs["gen_ai.usage.input_tokens"] != int64(3) {
			t.Errorf("%v: what was known is lost: %v", c.err, s.Attrs)
		}
		if len(s.Events) != 0 || s.Attrs["error.type"] != nil {
			t.Errorf("%v: events %v, error.type %v, want none", c.err, s.Events, s.Attrs["error.type"])
		}
		s = one(t, genai.Request{}, genai.Response{}, c.err, genai.WithErrorType())
		if got := s.Attrs["error.type"]; got != c.kind {
			t.Errorf("%v: error.type is %v, want %v", c.err, got, c.kind)
		}
	}
}

// TestErrorsThatSayNothing: an Error without an outcome is one all the same, and
// a nil one is none.
func TestErrorsThatSayNothing(t *testing.T) {
	for _, c := range []struct {
		err     *genai.Error
		outcome genai.Outcome
		status  string
	}{{&genai.Error{Description: "x"}, genai.OutcomeError, "ERROR"}, {nil, genai.OutcomeSuccess, "UNSET"}} {
		var f genai.Finished
		s := one(t, genai.Request{}, genai.Response{}, c.err, genai.WithErrorType(), genai.WithOnEnd(func(_ context.Context, got genai.Finished) { f = got }))
		if f.Outcome != c.outcome || (f.Err != nil) != (c.status == "ERROR") || s.Status != c.status || c.status == "ERROR" && s.Attrs["error.type"] != "error" {
			t.Errorf("%v: outcome %v, error %v, status %s, error.type %v", c.err, f.Outcome, f.Err, s.Status, s.Attrs["error.type"])
		}
	}
	if s := (*genai.Error)(nil).Error(); s != "<nil>" {
		t.Errorf("a nil error says %q", s)
	}
}
