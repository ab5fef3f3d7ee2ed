package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// clients read streams and compare each byte.
type clients struct {
	config
	url                       string
	http                      *http.Client
	next                      atomic.Int64 // number of the newest stream
	done, left, events, bytes atomic.Int64

	mu   sync.Mutex
	errs []error
}

func newClients(c config, url string) *clients {
	return &clients{config: c, url: url, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: c.streams}}}
}

// run keeps so many streams under way until the time is over, and then waits for
// the last to end.
func (c *clients) run() {
	defer c.http.CloseIdleConnections()
	end := time.Now().Add(c.duration)
	var wg sync.WaitGroup
	for i := range c.streams {
		wg.Go(func() {
			time.Sleep(c.chunk * time.Duration(i) / time.Duration(c.streams)) // not all at once
			for time.Now().Before(end) {
				p := planOf(c.next.Add(1), c.config)
				if err := c.stream(&p); err != nil {
					c.fail(fmt.Errorf("stream %d: %w", p.number, err))
				}
				c.done.Add(1)
			}
		})
	}
	wg.Wait()
}

func (c *clients) stream(p *plan) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/v1/chat/completions", strings.NewReader(p.request()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	// Go dials ahead at times, and the gateway closes a connection on which no
	// request comes for ten seconds. One that meets this is sent again only if it
	// may be, which this header says.
	r.Header.Set("Idempotency-Key", fmt.Sprint(p.number))
	r.Header.Set(numberHeader, fmt.Sprint(p.number))
	resp, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		return fmt.Errorf("status %d, %q", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	for i := range p.events() {
		if p.left > 0 && i == p.left {
			c.left.Add(1)
			return nil
		}
		want := p.event(i)
		got := make([]byte, len(want))
		if n, err := io.ReadFull(resp.Body, got); err != nil || string(got) != want {
			return fmt.Errorf("event %d is %q, %w, want %q", i, got[:n], err, want)
		}
		c.events.Add(1)
		c.bytes.Add(int64(len(want)))
	}
	if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
		return fmt.Errorf("%q after the end, %w", rest, err)
	}
	return nil
}

func (c *clients) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errs = append(c.errs, err)
}

// err returns how many streams went wrong, and the first of the errors.
func (c *clients) err() error {
	if len(c.errs) == 0 {
		return nil
	}
	first := c.errs[:min(len(c.errs), 5)]
	return errors.Join(append([]error{fmt.Errorf("%d streams went wrong, such as", len(c.errs))}, first...)...)
}
