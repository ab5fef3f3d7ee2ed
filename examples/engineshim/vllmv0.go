package main

import (
	"context"
	"time"
)

// vllmV0 handles the lines of vLLM V0 engines.
type vllmV0 struct{}

func newVLLMV0(telemetry) handler { return vllmV0{} }

func (vllmV0) handle(_ context.Context, l *line) error { return l.unknownEvent() }

func (vllmV0) close(context.Context, time.Time) {}
