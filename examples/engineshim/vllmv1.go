package main

import (
	"context"
	"time"
)

// vllmV1 handles the lines of vLLM V1 engines.
type vllmV1 struct{}

func newVLLMV1(telemetry) handler { return vllmV1{} }

func (vllmV1) handle(_ context.Context, l *line) error { return l.unknownEvent() }

func (vllmV1) close(context.Context, time.Time) {}
