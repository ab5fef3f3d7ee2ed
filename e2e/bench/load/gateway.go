package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// gateway is how the example gateway is run.
type gateway struct {
	name, exe, upstream string
	env                 []string
	spans               func() int // takes what it has exported; nil: it exports nothing
}

// result is what one run of a gateway came to.
type result struct {
	cpu    time.Duration   // of the whole process, from its start to its end
	waits  []time.Duration // for the answers to requests, or the chunks of streams
	broken int             // requests that failed
}

// put starts the gateway, puts the load on it and stops it.
func (g *gateway) put(ctx context.Context, l load) (result, error) {
	address, err := freeAddress()
	if err != nil {
		return result{}, err
	}
	cmd := exec.CommandContext(ctx, g.exe, "-listen", address, "-upstream", g.upstream)
	cmd.Env = append(os.Environ(), g.env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return result{}, err
	}
	r, err := l.run(ctx, "http://"+address)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return result{}, fmt.Errorf("%w\n%s", err, &stderr)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return result{}, err
	}
	if err := cmd.Wait(); err != nil {
		return result{}, fmt.Errorf("%w\n%s", err, &stderr)
	}
	if g.spans != nil {
		if n := g.spans(); n != l.requests {
			return result{}, fmt.Errorf("%d spans arrived of %d requests", n, l.requests)
		}
	}
	r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return r, nil
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// awaitGateway returns when the gateway answers.
func awaitGateway(ctx context.Context, client *http.Client, url string) error {
	for deadline := time.Now().Add(20 * time.Second); ; {
		resp, err := client.Get(url + "/healthz")
		if err == nil {
			return resp.Body.Close()
		}
		if time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
