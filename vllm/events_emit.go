package vllm

import (
	"slices"

	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/semconv"
)

// emitEach hands over the first n events, each by itself.
func (l *eventLog) emitEach(r *RequestV1, s *scratch, n int) {
	var all extent
	for i := range n {
		all.to = max(all.to, l.events[i].texts.to)
	}
	text := l.textOf(all) // one allocation for them all
	for i := range n {
		ev := &l.events[i]
		s.texts = l.appendTexts(s.texts[:0], text, 0, ev.texts)
		s.addEvent(r, ev, &tokens{ev.has, ev.count, l.ids[ev.ids.from:ev.ids.to], s.texts, l.logProbs[ev.logProbs.from:ev.logProbs.to]})
	}
}

// emit hands over one event that stands for a run of them. It has the name and
// the time of the first that carries tokens, else of the first.
func (l *eventLog) emit(r *RequestV1, s *scratch, run []event) {
	first := max(slices.IndexFunc(run, event.isIteration), 0)
	t := tokens{}
	t.has, t.count = common(run)
	t.ids = gather(l, l.ids, run, func(ev *event) extent { return ev.ids })
	if t.has&hasTexts != 0 {
		t.texts = l.gatherTexts(s, run)
	}
	t.logProbs = gather(l, l.logProbs, run, func(ev *event) extent { return ev.logProbs })
	s.addEvent(r, &run[first], &t)
}

// tokens are those of one event, with what has says of them.
type tokens struct {
	has      tokenFields
	count    int
	ids      []int
	texts    []string
	logProbs []float64
}

// addEvent adds to the span an event with the name and the time of ev.
func (s *scratch) addEvent(r *RequestV1, ev *event, t *tokens) {
	a := append(s.attrs[:0], semconv.GenAIEngineIndex(r.engine.index))
	if t.has&hasIDs != 0 {
		a = append(a, semconv.GenAITokenIDs(t.ids...))
	}
	if t.has&hasTexts != 0 {
		a = append(a, semconv.GenAITokenTexts(t.texts...))
	}
	if t.has&hasCount != 0 {
		a = append(a, semconv.GenAITokenCount(t.count))
	}
	if t.has&hasLogProbs != 0 {
		a = append(a, semconv.GenAITokenLogProbs(t.logProbs...))
	}
	s.attrs = a
	s.events = [2]trace.EventOption{s.timestamp(r.at(ev.at)), trace.WithAttributes(a...)}
	r.span.AddEvent(ev.kind.String(), s.events[:]...)
}

func (ev event) isIteration() bool { return ev.kind == eventPrefill || ev.kind == eventDecode }

// sideBySide returns where the tokens of a run of events lie, which were put one
// after another.
func sideBySide(run []event, of func(*event) extent) (all extent) {
	for i := range run {
		if x := of(&run[i]); x.from < x.to {
			if all.to == 0 {
				all.from = x.from
			}
			all.to = x.to
		}
	}
	return all
}

// gather returns the tokens of a run of events.
func gather[T any](l *eventLog, tokens []T, run []event, of func(*event) extent) []T {
	if !l.shuffled || len(run) == 1 {
		all := sideBySide(run, of)
		return tokens[all.from:all.to]
	}
	var out []T
	for i := range run {
		x := of(&run[i])
		out = append(out, tokens[x.from:x.to]...)
	}
	return out
}

// gatherTexts returns the texts of a run of events, in a slice that is used again.
func (l *eventLog) gatherTexts(s *scratch, run []event) []string {
	s.texts = s.texts[:0]
	for len(run) > 0 {
		n := len(run)
		if l.shuffled {
			n = 1
		}
		x := sideBySide(run[:n], func(ev *event) extent { return ev.texts })
		run = run[n:]
		if x.from < x.to {
			from, _ := l.textBounds(x.from)
			s.texts = l.appendTexts(s.texts, l.textOf(x), from, x)
		}
	}
	return s.texts
}

// textOf returns texts that lie side by side as one.
func (l *eventLog) textOf(x extent) string {
	if x.from == x.to {
		return ""
	}
	from, _ := l.textBounds(x.from)
	return string(l.text[from:l.texts[x.to-1]])
}

// appendTexts adds the texts of x, which are parts of one that lies at from.
func (l *eventLog) appendTexts(to []string, text string, from int32, x extent) []string {
	for i := x.from; i < x.to; i++ {
		start, end := l.textBounds(i)
		to = append(to, text[start-from:end-from])
	}
	return to
}
