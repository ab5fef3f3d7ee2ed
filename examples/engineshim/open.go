package main

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
)

// maxOpen bounds the requests that an engine may have open, for one that does not
// always tell how they end. The oldest makes room for a new one: a shim runs for
// months, and must neither grow nor stop taking requests.
// Tests have fewer.
var maxOpen = 1 << 15

var sayTooManyOpen = sync.OnceFunc(func() {
	otel.Handle(fmt.Errorf("engineshim: an engine has %d requests open, does it tell how they end? The oldest is ended as aborted for each that arrives", maxOpen))
})

// openOrder holds what is open, oldest first.
type openOrder[R any] struct{ list.List }

// room ends the oldest if it takes a place that is needed. It is end's part to
// remove it.
func (o *openOrder[R]) room(end func(oldest R)) {
	if o.Len() >= maxOpen {
		sayTooManyOpen()
		end(o.Front().Value.(R))
	}
}

// openRequests holds the requests of one engine that are under way.
type openRequests[R any] struct {
	order openOrder[openRequest[R]]
	byID  map[string]*list.Element
}

type openRequest[R any] struct {
	id      string
	request R
}

// add takes a request that arrived. abort ends one that has been open for long.
func (o *openRequests[R]) add(l *line, start func() R, abort func(R)) error {
	if _, ok := o.byID[l.request]; ok {
		return fmt.Errorf("request %s has arrived already", shortened(l.fields["request"]))
	}
	o.order.room(func(oldest openRequest[R]) {
		abort(oldest.request)
		o.remove(oldest.id)
	})
	if o.byID == nil {
		o.byID = map[string]*list.Element{}
	}
	o.byID[l.request] = o.order.PushBack(openRequest[R]{l.request, start()})
	return nil
}

func (o *openRequests[R]) get(l *line) (r R, err error) {
	e, ok := o.byID[l.request]
	if !ok {
		return r, fmt.Errorf("request %s is not open: it has not arrived, or has finished", shortened(l.fields["request"]))
	}
	return e.Value.(openRequest[R]).request, nil
}

func (o *openRequests[R]) remove(id string) {
	if e, ok := o.byID[id]; ok {
		o.order.Remove(e)
		delete(o.byID, id)
	}
}

// abortAll ends all requests, the oldest first, at a pace.
func (o *openRequests[R]) abortAll(p *pace, abort func(R)) {
	for e := o.order.Front(); e != nil; e = e.Next() {
		abort(e.Value.(openRequest[R]).request)
		p.ended()
	}
	*o = openRequests[R]{}
}

const (
	// burst is how many requests may end at once without more spans than can wait
	// for their export.
	burst = 1024
	// patience is how long it is waited for exports while requests end, and
	// flushPatience for one of them.
	patience      = 20 * time.Second
	flushPatience = 5 * time.Second
)

// pace lets exports catch up while many requests end at once, until patience is
// over or an export fails.
type pace struct {
	flush func(context.Context) error
	n     int
	until time.Time
}

func newPace(t telemetry) *pace { return &pace{flush: t.Flush, until: time.Now().Add(patience)} }

// ended says that a request has ended.
func (p *pace) ended() {
	now := time.Now()
	if p.n++; p.n%burst > 0 || now.After(p.until) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushPatience)
	defer cancel()
	if p.flush(ctx) != nil { // the loss is counted and reported
		p.until = now
	}
}
