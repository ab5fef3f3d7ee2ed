package wire

import (
	"context"
	"errors"
	"net/url"
	"testing"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/internal/sdktest"
)

// decorated has methods that do not expect a nil pointer.
type decorated struct{ inner error }

func (d *decorated) Error() string        { return d.inner.Error() }
func (d *decorated) Unwrap() error        { return d.inner }
func (d *decorated) Is(target error) bool { return errors.Is(d.inner, target) }

// TestNilPointersAsErrors: one of ours is none, another is a failure, and what was
// read counts either way.
func TestNilPointersAsErrors(t *testing.T) {
	errs := sdktest.HandleErrors(t)
	for _, c := range []struct {
		err     error
		outcome genai.Outcome
	}{
		{(*genai.Error)(nil), genai.OutcomeSuccess},
		{(*decorated)(nil), genai.OutcomeError},
		{(*url.Error)(nil), genai.OutcomeError},
	} {
		var f genai.Finished
		x := observe(t, genai.EngineVLLM, genai.WithOnEnd(func(_ context.Context, got genai.Finished) { f = got }))
		x.RequestBody([]byte(`{"model":"m"`))
		x.End(c.err)
		if f.Outcome != c.outcome || f.RequestModel != "m" {
			t.Errorf("%T: outcome %v of a request for %q", c.err, f.Outcome, f.RequestModel)
		}
	}
	if got := errs.Take(); len(got) > 0 {
		t.Errorf("reported %v", got)
	}
}
