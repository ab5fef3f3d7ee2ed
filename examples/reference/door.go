package main

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/propagation"

	"github.com/infertel/infertel-go/examples/internal/simengine"
	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/genai/wire"
)

// httpRequest is a request to the API, and httpClient is who gets the answer.
type httpRequest struct {
	path   string
	header http.Header
	body   []byte
}

type httpClient interface {
	head(status int, contentType string)
	write(p []byte)
	close(err error)
}

// door is the OpenAI-compatible API layer before an engine: it observes what
// passes, and hands the request on with the trace context of its entry span.
//
// Package genaihttp does the same for net/http in one line. Here nothing waits
// on a goroutine of its own and all happens in simulated time, as in a server
// that is driven by events: what package wire is for.
type door struct {
	sim  *simengine.Sim
	inst *genai.Instrumentation
	next func(httpRequest, httpClient)
	open map[*observedClient]bool // under way
}

// close ends what is under way, also where no engine has it yet or any more.
func (d *door) close() {
	for c := range d.open {
		c.close(context.Canceled)
	}
}

func (d *door) serve(r httpRequest, client httpClient) {
	op, ok := wire.OperationOf(r.path)
	if !ok {
		d.next(r, client)
		return
	}
	propagator := d.inst.Propagator()
	ctx := propagator.Extract(context.Background(), propagation.HeaderCarrier(r.header))
	ctx, x := wire.Start(ctx, d.inst, wire.RequestHead{
		Operation: op,
		RequestID: r.header.Get("X-Request-Id"),
		SessionID: r.header.Get("X-Session-Id"),
		StartTime: d.sim.Now(),
	})
	x.RequestBody(r.body)
	inner := r
	inner.header = r.header.Clone()
	propagator.Inject(ctx, propagation.HeaderCarrier(inner.header))
	observed := &observedClient{door: d, client: client, exchange: x, call: genai.CallFromContext(ctx)}
	d.open[observed] = true
	d.sim.After(networkTime, func() { d.next(inner, observed) })
}

const networkTime = 90 * time.Microsecond

// observedClient observes the answer on its way to the client.
type observedClient struct {
	door     *door
	client   httpClient
	exchange *wire.Exchange
	call     *genai.Call
}

func (c *observedClient) head(status int, contentType string) {
	c.exchange.ResponseHead(wire.ResponseHead{Status: status, ContentType: contentType})
	c.client.head(status, contentType)
}

func (c *observedClient) write(p []byte) {
	c.client.write(p) // nobody waits for us
	c.exchange.ResponseBody(p)
}

// close ends the entry span when the end of the answer has reached the client,
// or when the run is cut short.
func (c *observedClient) close(err error) {
	delete(c.door.open, c)
	c.call.SetResponse(genai.Response{EndTime: c.door.sim.Now().Add(networkTime)})
	c.exchange.End(err)
	c.door.sim.After(networkTime, func() { c.client.close(err) })
}
