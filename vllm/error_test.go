package vllm_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/vllm"
)

// decorated has methods that do not expect a nil pointer.
type decorated struct{ inner error }

func (d *decorated) Error() string        { return d.inner.Error() }
func (d *decorated) Unwrap() error        { return d.inner }
func (d *decorated) Is(target error) bool { return errors.Is(d.inner, target) }

// Only an error of the caller's makes the status ERROR. Its text may
// quote a prompt, so it is not told, unless it is made to be.
func TestError(t *testing.T) {
	const secret = "the prompt was: ignore all"
	for name, c := range map[string]struct {
		err         error
		description string
	}{
		"none":            {nil, ""},
		"foreign":         {errors.New(secret), "failed with an error of type *errors.errorString"},
		"wrapped":         {fmt.Errorf("%s: %w", secret, errors.New(secret)), "failed with an error of type *fmt.wrapError"},
		"ours":            {&vllm.Error{Description: strings.Repeat("é", 200)}, strings.Repeat("é", 128)},
		"ours, wrapped":   {fmt.Errorf("%s: %w", secret, &vllm.Error{Description: "out of memory"}), "out of memory"},
		"ours, a nil one": {(*vllm.Error)(nil), ""},
		"cancelled":       {fmt.Errorf("%s: %w", secret, context.Canceled), "the client disconnected or the request was cancelled"},
		"deadline":        {&url.Error{Op: "Post", URL: secret, Err: context.DeadlineExceeded}, "the deadline of the request passed"},
		"nil pointer":     {(*decorated)(nil), "failed with an error of type *vllm_test.decorated"},
		"nil URL error":   {(*url.Error)(nil), "failed with an error of type *url.Error"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			req := b.v1(vllm.EngineConfig{}).StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
			req.Finish(vllm.OutcomeV1{At: at(1), FinishReason: vllm.FinishReasonError, Err: c.err})
			b.v0().StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0)).Finish(vllm.OutcomeV0{At: at(1), FinishReason: vllm.FinishReasonError, Err: c.err})
			ended := b.recorder.Ended()
			if len(ended) != 2 {
				t.Fatalf("%d spans", len(ended))
			}
			for _, s := range ended {
				if st := s.Status(); (st.Code.String() == "Error") != (c.description != "") || st.Description != c.description {
					t.Errorf("status %v", st)
				}
				if n := len(s.Events()); n != 0 {
					t.Errorf("%d events", n)
				}
			}
			b.noReports()
		})
	}
	if s := (*vllm.Error)(nil).Error(); s != "<nil>" {
		t.Errorf("a nil error says %q", s)
	}
}

// An error and each of the reasons for it let a request lack points.
func TestEarlyEnds(t *testing.T) {
	for _, o := range []vllm.OutcomeV1{
		{FinishReason: vllm.FinishReasonAbort},
		{FinishReason: vllm.FinishReasonError},
		{FinishReason: vllm.FinishReasonStop, Err: errors.New("x")},
		{FinishReason: vllm.FinishReasonStop, Err: (*vllm.Error)(nil)}, // no error
	} {
		b := newBed(t)
		o.At = at(9)
		req := b.v1(vllm.EngineConfig{}).StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
		req.Queued(at(1))
		req.Finish(o)
		early := o.FinishReason != vllm.FinishReasonStop || o.Err != error((*vllm.Error)(nil)) //nolint:errorlint // a nil error of the type, as it is given above
		if n := len(b.reports()); (n == 0) != early {
			t.Errorf("%+v: %d reports", o, n)
		}
	}
}
