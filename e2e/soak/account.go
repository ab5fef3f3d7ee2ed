package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
)

// account holds what arrived against the plans.
type account struct {
	config
	spans         int64
	seen          map[int64]bool
	wrong         []error
	input, output int64 // tokens on spans
	counted       int64 // tokens in the last metric
}

func (a *account) take(r *otlpreceiver.Receiver) {
	spans, metrics, _ := r.Take()
	for _, s := range spans {
		a.spans++
		if err := a.span(s); err != nil {
			a.wrong = append(a.wrong, err)
		}
	}
	for _, m := range metrics {
		if m.GetName() != "genai_llm_usage_tokens" {
			continue
		}
		a.counted = 0 // cumulative: the newest is all
		for _, p := range m.GetSum().GetDataPoints() {
			a.counted += p.GetAsInt() + int64(p.GetAsDouble())
		}
	}
}

func (a *account) span(s otlpreceiver.Span) error {
	strs, ints := map[string]string{}, map[string]int64{}
	for _, kv := range s.GetAttributes() {
		strs[kv.GetKey()], ints[kv.GetKey()] = kv.GetValue().GetStringValue(), kv.GetValue().GetIntValue()
	}
	id := strs["gen_ai.response.id"]
	number, err := strconv.ParseInt(strings.TrimPrefix(id, "chatcmpl-"), 10, 64)
	if err != nil || a.seen[number] {
		return fmt.Errorf("span %q of response %q is unknown or comes twice", s.GetName(), id)
	}
	a.seen[number] = true
	p := planOf(number, a.config)
	input, output := ints["gen_ai.usage.input_tokens"], ints["gen_ai.usage.output_tokens"]
	failed := s.GetStatus().GetMessage() != ""
	if p.left > 0 {
		if !failed || input != 0 {
			return fmt.Errorf("stream %d was left, its span has %d tokens and status %v", number, input, s.GetStatus())
		}
		return nil
	}
	a.input, a.output = a.input+input, a.output+output
	if failed || input != int64(p.input) || output != int64(p.output) {
		return fmt.Errorf("stream %d has %d and %d tokens, its span %d and %d, status %v", number, p.input, p.output, input, output, s.GetStatus())
	}
	return nil
}

// check returns what is wrong or missing of streams 1 to n.
func (a *account) check(n int64, c config) error {
	var errs []error
	if len(a.wrong) > 0 {
		errs = append(errs, fmt.Errorf("%d spans are wrong, such as: %w", len(a.wrong), errors.Join(a.wrong[:min(len(a.wrong), 5)]...)))
	}
	missing := 0
	for number := int64(1); number <= n; number++ {
		if !a.seen[number] {
			missing++
		}
	}
	if missing > 0 {
		errs = append(errs, fmt.Errorf("%d of %d spans did not arrive", missing, n))
	}
	if a.counted != a.input+a.output {
		errs = append(errs, fmt.Errorf("the metric counts %d tokens, the spans %d", a.counted, a.input+a.output))
	}
	return errors.Join(errs...)
}
