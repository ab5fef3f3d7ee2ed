package vllm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/infertel/infertel-go/semconv"
)

// eventKind is a kind of event on llm_request.
type eventKind uint8

// In the order of what happens at the same time: a request is queued before an
// iteration works on it, and is preempted after one has put out its tokens.
const (
	eventQueued eventKind = iota
	eventPrefill
	eventDecode
	eventPreempted
	eventRequeued
)

func (k eventKind) String() string {
	switch k {
	case eventQueued, eventRequeued:
		return semconv.EventWait
	case eventPrefill:
		return semconv.EventPrefill
	case eventDecode:
		return semconv.EventDecode
	}
	return semconv.EventPreempted
}

// reorderWindow is the number of events that are held back, so that they can be
// put in the order of their times, where they are not coalesced. Half of them go
// to the span when there are that many, which bounds the memory of a request.
const reorderWindow = 256

// maxTokenBytes bounds the tokens in the events of a request, in bytes on the wire.
// Receivers refuse a message of more than 4 MiB by default, and the span is lost
// then.
const maxTokenBytes = 3 << 20

// event is one event of a log. Its tokens lie in the slices of the log.
type event struct {
	at       time.Duration
	kind     eventKind
	has      tokenFields
	count    int
	ids      extent
	texts    extent
	logProbs extent
}

// extent is a part of a slice.
type extent struct{ from, to int32 }

// tokenFields says which of the token attributes were given.
type tokenFields uint8

const (
	hasIDs tokenFields = 1 << iota
	hasTexts
	hasCount
	hasLogProbs
)

// eventLog gathers the events of one request. It keeps nothing of the caller's, not
// even a string: else what a caller hands in would be moved to the heap, also
// where no events are recorded.
type eventLog struct {
	events   []event
	ids      []int
	text     []byte  // of all tokens
	texts    []int32 // where the text of each token ends in it
	logProbs []float64
	size     int  // bytes of the tokens held, on the wire
	total    int  // events so far, with those that the span has
	shuffled bool // the events are not in the order of their times
	waits    bool // the request was queued
}

func (e *engine) newEventLog() *eventLog {
	return e.logs.Get().(*eventLog)
}

// longRequest is the number of events of a request, or of its tokens, whose memory
// only another long request is given, and veryLong that of one whose memory is not
// kept: a pool is emptied only where nobody takes from it, and short requests must
// not keep the memory of long ones.
const (
	longRequest = 16 * reorderWindow
	veryLong    = 64 * longRequest
)

// free gives the log back.
func (l *eventLog) free(e *engine) {
	pool := &e.logs
	switch n := max(cap(l.events), cap(l.ids), cap(l.texts), cap(l.logProbs), cap(l.text)/4); {
	case n > veryLong:
		return
	case n > longRequest:
		pool = &e.longLogs
	}
	*l = eventLog{events: l.events[:0], ids: l.ids[:0], text: l.text[:0], texts: l.texts[:0], logProbs: l.logProbs[:0]}
	pool.Put(l)
}

// enlarge gives l the memory of a long request, if there is one that has ended.
func (l *eventLog) enlarge(e *engine) {
	long, _ := e.longLogs.Get().(*eventLog)
	if long == nil {
		return
	}
	l.events = append(long.events, l.events...)
	l.ids = append(long.ids, l.ids...)
	l.text = append(long.text, l.text...)
	l.texts = append(long.texts, l.texts...)
	l.logProbs = append(long.logProbs, l.logProbs...)
}

// add takes an event. Where the span keeps the newest ones anyway, the oldest of
// many are handed over already.
func (l *eventLog) add(r *RequestV1, k eventKind, at time.Duration, it *Iteration) {
	ev := event{at: at, kind: k}
	n := len(l.events)
	if n == longRequest {
		l.enlarge(&r.engine.engine)
	}
	if n > 0 && at <= l.events[n-1].at && compareEvents(ev, l.events[n-1]) < 0 {
		l.shuffled = true
	}
	if it.TokenCount != nil {
		ev.has |= hasCount
		ev.count = r.engine.count(misuseIterationTokens, r.asked.ID, "tokens in an iteration", *it.TokenCount)
	}
	l.addTokens(r.engine, &ev, it)
	makeRoom(&l.events, 1)
	l.events = append(l.events, ev)
	l.total++
	if e := r.engine; !e.coalesce && len(l.events) == reorderWindow {
		s := e.scratch.Get().(*scratch)
		l.sort()
		l.emitEach(r, s, reorderWindow/2)
		e.scratch.Put(s)
		l.drop(reorderWindow / 2)
	}
}

// addTokens takes the tokens of an event, as far as the log may hold them.
func (l *eventLog) addTokens(e *EngineV1, ev *event, it *Iteration) {
	size := it.size()
	if l.size+size > maxTokenBytes {
		l.size = maxTokenBytes // what follows goes without too, so that no token is missing between others
		e.misuse.Report(misuseTokens, func() error {
			return fmt.Errorf("vllm: a request has more than %d bytes of tokens; its events go on without", maxTokenBytes)
		})
		return
	}
	l.size += size
	if it.TokenIDs != nil {
		ev.has |= hasIDs
		ev.ids = put(&l.ids, it.TokenIDs)
	}
	if it.TokenTexts != nil {
		ev.has |= hasTexts
		ev.texts.from = int32(len(l.texts))
		for _, text := range it.TokenTexts {
			l.putText(text)
		}
		ev.texts.to = int32(len(l.texts))
	}
	if it.LogProbs != nil {
		ev.has |= hasLogProbs
		ev.logProbs = put(&l.logProbs, it.LogProbs)
	}
}

// size returns how many bytes the tokens take on the wire, a little more for small
// numbers.
func (it *Iteration) size() int {
	size := (elementBytes+8)*len(it.LogProbs) + (elementBytes+5)*len(it.TokenIDs)
	for _, text := range it.TokenTexts {
		size += elementBytes + 4 + len(text)
	}
	return size
}

// elementBytes are those around the value of an element of an array attribute.
const elementBytes = 3

func put[T any](to *[]T, from []T) extent {
	start := len(*to)
	makeRoom(to, len(from))
	*to = append(*to, from...)
	return extent{int32(start), int32(len(*to))}
}

// makeRoom makes room for n more. It doubles what is full, where append would add a
// quarter to what is long and so copy a long request five times over.
func makeRoom[T any](s *[]T, n int) {
	if cap(*s)-len(*s) < n {
		*s = slices.Grow(*s, max(n, len(*s)))
	}
}

func (l *eventLog) putText(text string) {
	if utf8.ValidString(text) {
		makeRoom(&l.text, len(text))
		l.text = append(l.text, text...)
	} else {
		// A cut character would have the whole export refused.
		l.text = append(l.text, strings.ToValidUTF8(strings.Clone(text), "\uFFFD")...)
	}
	makeRoom(&l.texts, 1)
	l.texts = append(l.texts, int32(len(l.text)))
}

// textBounds returns where the text of a token lies.
func (l *eventLog) textBounds(i int32) (from, to int32) {
	if i > 0 {
		from = l.texts[i-1]
	}
	return from, l.texts[i]
}

func (l *eventLog) sort() {
	if l.shuffled {
		slices.SortStableFunc(l.events, compareEvents)
	}
}

func compareEvents(a, b event) int {
	if c := cmp.Compare(a.at, b.at); c != 0 {
		return c
	}
	// A preemption is told with the wait that follows it, so they stay side by side.
	return cmp.Compare(min(a.kind, eventPreempted), min(b.kind, eventPreempted))
}

// queued takes the time when the request was queued, which may be told again.
func (l *eventLog) queued(r *RequestV1, at time.Duration) {
	if !l.waits {
		l.waits = true
		l.add(r, eventQueued, at, &Iteration{})
		return
	}
	// One that the span has already stays where it is.
	if i := slices.IndexFunc(l.events, func(ev event) bool { return ev.kind == eventQueued }); i >= 0 {
		l.events[i].at = at
		l.shuffled = true
	}
}

// drop forgets the first n events.
func (l *eventLog) drop(n int) {
	kept := eventLog{events: l.events[:0], total: l.total, waits: l.waits}
	for _, ev := range l.events[n:] {
		ev.ids = put(&kept.ids, l.ids[ev.ids.from:ev.ids.to])
		texts := extent{from: int32(len(kept.texts))}
		for i := ev.texts.from; i < ev.texts.to; i++ {
			from, to := l.textBounds(i)
			kept.text = append(kept.text, l.text[from:to]...)
			kept.texts = append(kept.texts, int32(len(kept.text)))
		}
		texts.to = int32(len(kept.texts))
		ev.texts = texts
		ev.logProbs = put(&kept.logProbs, l.logProbs[ev.logProbs.from:ev.logProbs.to])
		kept.events = append(kept.events, ev)
	}
	kept.size = (elementBytes+5)*len(kept.ids) + (elementBytes+8)*len(kept.logProbs) + (elementBytes+4)*len(kept.texts) + len(kept.text)
	*l = kept
}

// finish hands the events that are left to the span.
func (l *eventLog) finish(r *RequestV1, s *scratch) {
	l.sort()
	e := r.engine
	limit := e.eventLimit
	switch {
	case limit < 0 || l.total <= limit:
		l.emitEach(r, s, len(l.events))
	case e.coalesce:
		l.emitMerged(r, s, limit)
	default:
		l.emitEach(r, s, len(l.events))
		e.misuse.Report(misuseEventsDropped, func() error {
			return fmt.Errorf("vllm: a request has %d events, of which the span keeps the newest %d: raise %s, or use WithEventCoalescing", l.total, limit, envEventLimit)
		})
	}
	l.free(&e.engine)
}
