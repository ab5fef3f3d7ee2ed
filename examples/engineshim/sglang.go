package main

import (
	"context"
	"time"
)

// sglangEngine handles the lines of SGLang engines.
type sglangEngine struct{}

func newSGLang(telemetry) handler { return sglangEngine{} }

func (sglangEngine) handle(_ context.Context, l *line) error { return l.unknownEvent() }

func (sglangEngine) close(context.Context, time.Time) {}
