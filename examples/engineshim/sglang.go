package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/infertel/infertel-go/sglang"
)

// Bounds on what is kept beyond open requests.
const (
	// maxConnections bounds the connections whose engine is remembered.
	maxConnections = 4096
	// maxEnded bounds the requests that are known to have ended, of which a line may
	// still come.
	maxEnded = 256
	// maxThreadNames bounds the threads that a request may name.
	maxThreadNames = 4096
)

// sglangEngines handles the lines of SGLang engines. Each connection speaks for
// one engine, the one that it declared; several processes of one engine may have
// a connection each. A connection that has declared none speaks for the newest.
type sglangEngines struct {
	telemetry
	declared    map[string]*sglangEngine // by connection
	connections []string                 // those that have declared one, oldest first
	newest      *sglangEngine
	requests    map[string][]*sglangRequest // by id: open ones and those in ended
	open        openOrder[*sglangRequest]
	ended       []*sglangRequest // oldest first
}

// sglangEngine is an engine, shared by the connections that declare the same one.
type sglangEngine struct {
	config sglang.EngineConfig
	*sglang.Engine
}

func newSGLang(t telemetry) handler {
	return &sglangEngines{telemetry: t, declared: map[string]*sglangEngine{}, requests: map[string][]*sglangRequest{}}
}

func (h *sglangEngines) close(p *pace, at time.Time) {
	h.abort(p, at, func(*sglangRequest) bool { return true })
}

// abort ends the open requests that are meant, the oldest first, at a pace.
func (h *sglangEngines) abort(p *pace, at time.Time, meant func(*sglangRequest) bool) {
	for e := h.open.Front(); e != nil; {
		r := e.Value.(*sglangRequest)
		e = e.Next() // before r is removed
		if meant(r) {
			h.abortRequest(r, at)
			p.ended()
		}
	}
}

func (h *sglangEngines) abortRequest(r *sglangRequest, at time.Time) {
	r.span.Abort(sglang.AbortReason{}, sglang.Outcome{}, at)
	h.end(r)
}

func (h *sglangEngines) start(r *sglangRequest) {
	r.place = h.open.PushBack(r)
	h.requests[r.id] = append(h.requests[r.id], r)
}

// end remembers for a while that a request has ended.
func (h *sglangEngines) end(r *sglangRequest) {
	if r.ended {
		return
	}
	r.ended = true
	h.open.Remove(r.place)
	if h.ended = append(h.ended, r); len(h.ended) <= maxEnded {
		return
	}
	oldest := h.ended[0]
	h.ended = slices.Delete(h.ended, 0, 1)
	rest := slices.DeleteFunc(h.requests[oldest.id], func(r *sglangRequest) bool { return r == oldest })
	if len(rest) == 0 {
		delete(h.requests, oldest.id)
	} else {
		h.requests[oldest.id] = rest
	}
}

// usableTime reports whether a time is one that the library takes. The zero time
// is a point that was not taken.
func usableTime(at time.Time) bool { return at.IsZero() || at.Unix() >= 1 && at.Unix() < 1<<33 }

const wantTime = "Unix nanoseconds from 1000000000 to 8589934591999999999"

func (h *sglangEngines) handle(ctx context.Context, l *line) error {
	if !usableTime(l.at) {
		l.wrong("ts", wantTime)
		return l.err()
	}
	switch l.event {
	case "engine":
		return h.declare(l)
	case "stats":
		return h.stats(ctx, l)
	case "request_start":
		return h.requestStart(ctx, l)
	}
	handle := sglangRequestEvents[l.event]
	if handle == nil {
		return l.unknownEvent()
	}
	l.require("request")
	if err := l.err(); err != nil {
		return err
	}
	r := h.request(l)
	if r == nil {
		return fmt.Errorf("request %s is not open: it has not arrived, or has finished", shortened(l.fields["request"]))
	}
	if err := handle(r, l); err != nil {
		return err
	}
	if l.event == "request_end" {
		h.end(r)
	}
	return nil
}

// request returns the request that the line is about, nil if there is none: of
// the same connection if it has one, else of another connection of the same
// engine; for a connection that has declared no engine, else of any. Of several
// it is one that is open, and of these the newest.
func (h *sglangEngines) request(l *line) *sglangRequest {
	engine, declared := h.declared[l.origin]
	if !declared {
		engine = h.newest
	}
	var best *sglangRequest
	most := -1
	for _, r := range h.requests[l.request] {
		rank := 0
		switch {
		case r.origin == l.origin:
			rank = 4
		case r.engine == engine:
			rank = 2
		case declared:
			continue
		}
		if !r.ended {
			rank++
		}
		if rank >= most {
			best, most = r, rank
		}
	}
	return best
}

// declare takes the engine of a connection. One that takes the place of another
// ends the requests that the connection has open; the engines of other
// connections are other nodes.
func (h *sglangEngines) declare(l *line) error {
	c := sglang.EngineConfig{Model: l.text("model"), PDRole: l.nodeRole("pd_role")}
	if err := l.err(); err != nil {
		return err
	}
	old := h.declared[l.origin]
	if old != nil && old.config == c {
		h.newest = old
		return nil
	}
	engine, err := h.engineOf(c)
	if err != nil {
		return err
	}
	if old != nil {
		h.abort(newPace(h), l.at, func(r *sglangRequest) bool { return r.origin == l.origin })
	} else if h.connections = append(h.connections, l.origin); len(h.connections) > maxConnections {
		delete(h.declared, h.connections[0])
		h.connections = slices.Delete(h.connections, 0, 1)
	}
	h.declared[l.origin], h.newest = engine, engine
	return nil
}

// nodeRole reads a PD role of SGLang, PDRoleNone if it is not set or empty.
func (l *line) nodeRole(name string) sglang.PDRole {
	text := l.text(name)
	if text == "" {
		return sglang.PDRoleNone
	}
	role, err := sglang.ParsePDRole(text)
	if err != nil {
		l.wrong(name, "prefill, decode or none")
	}
	return role
}

// engineOf returns the engine that is declared like c, a new one if none is.
func (h *sglangEngines) engineOf(c sglang.EngineConfig) (*sglangEngine, error) {
	for _, e := range h.declared {
		if e.config == c {
			return e, nil
		}
	}
	engine, err := sglang.NewEngine(c,
		sglang.WithTracerProvider(h.TracerProvider()),
		sglang.WithMeterProvider(h.MeterProvider()))
	if err != nil {
		return nil, err
	}
	return &sglangEngine{c, engine}, nil
}

// engine returns the engine that the line's connection speaks for, one without a
// model where none was ever declared.
func (h *sglangEngines) engine(l *line) (*sglangEngine, error) {
	if e := h.declared[l.origin]; e != nil {
		return e, nil
	}
	if h.newest == nil {
		var err error
		if h.newest, err = h.engineOf(sglang.EngineConfig{}); err != nil {
			return nil, err
		}
	}
	return h.newest, nil
}

func (h *sglangEngines) stats(ctx context.Context, l *line) error {
	for _, name := range []string{"running", "queued", "used_tokens", "token_usage", "gen_throughput"} {
		l.require(name)
	}
	s := sglang.SchedulerStats{
		RunningReqs:      l.count("running"),
		QueueReqs:        l.count("queued"),
		UsedTokens:       l.count("used_tokens"),
		CacheHitRate:     positive(l, "cache_hit_rate"),
		SpecAcceptLength: positive(l, "spec_accept_length"),
	}
	if v := positive(l, "token_usage"); v != nil {
		s.TokenUsage = *v
	}
	if v := positive(l, "gen_throughput"); v != nil {
		s.GenThroughput = *v
	}
	if err := l.err(); err != nil {
		return err
	}
	e, err := h.engine(l)
	if err != nil {
		return err
	}
	return e.RecordScheduler(ctx, s)
}

// positive returns a number of 0 or more, nil if it is not set.
func positive(l *line, name string) *float64 {
	v := l.float(name)
	if v != nil && *v < 0 {
		l.wrong(name, "0 or more")
	}
	return v
}

// requestStart starts a request. A field that cannot be used makes the line bad,
// but is no reason to lose all of the request: it starts without the field.
func (h *sglangEngines) requestStart(ctx context.Context, l *line) error {
	l.require("request")
	if err := l.err(); err != nil {
		return err
	}
	e, err := h.engine(l)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(h.requests[l.request], func(r *sglangRequest) bool { return !r.ended && r.origin == l.origin }) {
		return fmt.Errorf("request %s has arrived already", shortened(l.fields["request"]))
	}
	h.open.room(func(oldest *sglangRequest) { h.abortRequest(oldest, l.at) })
	r := sglang.Request{RID: l.request, BootstrapRoom: l.room("bootstrap_room"), Embedding: l.flag("embedding")}
	ctx = l.parent(ctx)
	h.start(&sglangRequest{
		id: l.request, origin: l.origin, engine: e,
		span: e.StartRequest(ctx, r, l.at), threads: map[string]*sglangThread{},
	})
	return l.err()
}

// room returns a number that some engines write as hexadecimal text, nil if it is
// not set.
func (l *line) room(name string) *uint64 {
	const want = `an integer of 0 or more, or one as text such as "0x6dec69"`
	if !strings.HasPrefix(string(l.fields[name]), `"`) {
		return optional[uint64](l, name, want)
	}
	text, base := l.text(name), 10
	if digits, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		text, base = digits, 16
	}
	n, err := strconv.ParseUint(text, base, 64)
	if err != nil {
		l.wrong(name, want)
		return nil
	}
	return &n
}
