package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed jaeger.yaml
var config []byte

const (
	readyTime = time.Minute
	stopTime  = 20 * time.Second
)

// server is a running Jaeger.
type server struct {
	cmd   *exec.Cmd
	dir   string // its files
	ended chan struct{}
	err   error // of the process, once it has ended
}

// start builds Jaeger, starts it, and returns when it answers. It is stopped when
// ctx is done.
func start(ctx context.Context, otlp, query string) (*server, error) {
	program, err := exec.CommandContext(ctx, "go", "tool", "-n", "jaeger").Output()
	if err != nil {
		return nil, fmt.Errorf("build Jaeger: %w", withStderr(err))
	}
	dir, err := os.MkdirTemp("", "jaeger")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, ended: make(chan struct{})}
	if err := s.launch(ctx, strings.TrimSpace(string(program)), otlp, query); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	go func() {
		s.err = s.cmd.Wait()
		close(s.ended)
	}()
	if err := s.ready(ctx, query); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func (s *server) launch(ctx context.Context, program, otlp, query string) error {
	assets := filepath.Join(s.dir, "assets")
	if err := writeAssets(assets); err != nil {
		return err
	}
	file := filepath.Join(s.dir, "jaeger.yaml")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return err
	}
	queryGRPC, err := freeAddress()
	if err != nil {
		return err
	}
	s.cmd = exec.CommandContext(ctx, program, "--config", file)
	s.cmd.Env = append(os.Environ(), "JAEGER_ASSETS="+assets, "JAEGER_OTLP="+otlp, "JAEGER_QUERY="+query, "JAEGER_QUERY_GRPC="+queryGRPC)
	s.cmd.Stdout, s.cmd.Stderr = os.Stderr, os.Stderr
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(os.Interrupt) }
	s.cmd.WaitDelay = stopTime
	return s.cmd.Start()
}

// ready waits until Jaeger answers.
func (s *server) ready(ctx context.Context, query string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+query+"/api/services", nil)
		if err != nil {
			return err
		}
		if answer, err := http.DefaultClient.Do(r); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no answer from Jaeger: %w", ctx.Err())
		case <-s.ended:
			return fmt.Errorf("exit of Jaeger: %w", s.err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// stop ends Jaeger and removes its files.
func (s *server) stop() error {
	_ = s.cmd.Process.Signal(os.Interrupt) // has ended if that fails
	select {
	case <-s.ended:
	case <-time.After(stopTime):
		_ = s.cmd.Process.Kill()
	}
	return s.wait()
}

// wait returns when Jaeger has ended, which is no error if it was told to.
func (s *server) wait() error {
	<-s.ended
	err := s.err
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// freeAddress names a loopback address that nobody listens on.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// withStderr adds what a program said on its way out.
func withStderr(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return err
}
