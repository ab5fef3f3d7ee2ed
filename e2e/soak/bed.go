package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"

	"github.com/infertel/infertel-go/e2e/internal/process"
	"github.com/infertel/infertel-go/internal/otlpreceiver"
)

// numberHeader tells the server which stream is wanted.
const numberHeader = "X-Stream"

// bed is what a run needs: a server behind the gateway, a collector beside it.
type bed struct {
	config
	url      string
	program  *process.Program
	gateway  *process.Process
	server   *httptest.Server
	receiver *otlpreceiver.Receiver

	stop     chan struct{}
	watching sync.WaitGroup
	account  account
}

func newBed(c config) (_ *bed, err error) {
	b := &bed{config: c, stop: make(chan struct{}), account: account{config: c, seen: map[int64]bool{}}}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	if b.program, err = process.Build("gateway", c.race); err != nil {
		return nil, err
	}
	if b.receiver, err = otlpreceiver.Start(); err != nil {
		return nil, err
	}
	b.server = httptest.NewServer(http.HandlerFunc(b.serve))
	address, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	b.url = "http://" + address
	args := []string{"-listen", address, "-upstream", b.server.URL, "-engine", c.engine}
	if b.gateway, err = b.program.Start(args, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + b.receiver.Endpoint()}, nil); err != nil {
		return nil, err
	}
	b.watching.Go(b.watch)
	return b, b.gateway.WaitHTTP(b.url+"/healthz", 20*time.Second)
}

// serve is an inference server that takes its time.
func (b *bed) serve(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.ParseInt(r.Header.Get(numberHeader), 10, 64)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p := planOf(number, b.config)
	w.Header().Set("Content-Type", "text/event-stream")
	for i := range p.events() {
		if p.left > 0 && i == p.output { // not to end before the client has left
			select {
			case <-time.After(time.Minute):
			case <-r.Context().Done():
			}
			return
		}
		if _, err := io.WriteString(w, p.event(i)); err != nil {
			return
		}
		w.(http.Flusher).Flush()
		if i < len(p.pauses) {
			select {
			case <-time.After(p.pauses[i]):
			case <-r.Context().Done():
				return
			}
		}
	}
}

// watch takes what arrives over, so that the receiver does not fill the memory.
func (b *bed) watch() {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-b.stop:
			return
		case <-tick.C:
			b.account.take(b.receiver)
		}
	}
}

// arrived returns the account of all that arrived, after the gateway has ended.
func (b *bed) arrived() *account {
	close(b.stop)
	b.watching.Wait()
	b.stop = nil
	b.account.take(b.receiver)
	return &b.account
}

func (b *bed) close() {
	if b.stop != nil {
		close(b.stop)
		b.watching.Wait()
	}
	if b.gateway != nil {
		b.gateway.Kill()
	}
	if b.server != nil {
		b.server.Close()
	}
	if b.receiver != nil {
		b.receiver.Stop()
	}
	if b.program != nil {
		if err := b.program.Remove(); err != nil {
			fmt.Println("soak:", err)
		}
	}
}
