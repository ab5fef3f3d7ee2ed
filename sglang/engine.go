package sglang

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/internal/boundedtext"
	"github.com/infertel/infertel-go/internal/reportonce"
	"github.com/infertel/infertel-go/internal/version"
	"github.com/infertel/infertel-go/semconv"
)

// ScopeName is the name of the instrumentation scope.
const ScopeName = "github.com/infertel/infertel-go/sglang"

// Version is the version of the instrumentation scope.
const Version = version.Version

// Bounds on text that comes from outside, in bytes, besides those of names and ids.
const (
	maxLabel   = 128
	maxMessage = 1024
)

// Engine makes the native spans and the metrics of one engine. Make it with
// [NewEngine], once per process and engine. It is safe for concurrent use. A nil
// *Engine emits nothing, and neither does anything made with it.
type Engine struct {
	model       string
	role        PDRole
	nativeNames bool
	hostID      func() string

	tracer   trace.Tracer
	metrics  metrics
	level    atomic.Int64
	stages   [stageCount]placement
	shelves  sync.Pool
	reported reportonce.Reporter
}

// placement says where a stage is documented.
type placement struct {
	process    semconv.Process
	deployment semconv.Deployment
}

// NewEngine returns the Engine that c describes. It reads the environment variable
// [EnvTraceLevel]; a level that cannot be used is reported through [otel.Handle].
// It returns an error if the PD role is unknown or the meter provider refuses an
// instrument.
func NewEngine(c EngineConfig, opts ...Option) (*Engine, error) {
	if err := c.PDRole.check(); err != nil {
		return nil, err
	}
	o := newConfig(opts)
	t := &Engine{
		model:       boundedtext.Cut(c.Model, boundedtext.MaxName),
		role:        c.PDRole,
		nativeNames: o.nativeNames,
		tracer:      o.tracerProvider.Tracer(ScopeName, trace.WithInstrumentationVersion(Version)),
	}
	var err error
	if t.metrics, err = newMetrics(o.meterProvider.Meter(ScopeName, metric.WithInstrumentationVersion(Version))); err != nil {
		return nil, err
	}
	t.level.Store(int64(initialLevel(o.level)))
	t.shelves.New = newShelf
	if id := boundedtext.Cut(o.hostID, boundedtext.MaxName); id != "" {
		t.hostID = func() string { return id }
	} else {
		t.hostID = sync.OnceValue(func() string { return discoverHostID(machineIDFile, net.Interfaces) })
	}
	for _, s := range semconv.Stages() {
		if n, err := ParseStage(s.Name); err == nil {
			t.stages[n] = placement{s.Process, s.Deployment}
		}
	}
	return t, nil
}

// misplaced reports a stage that is not documented for the process or the
// deployment. It is recorded all the same: where it came from is the finding.
func (e *Engine) misplaced(s Stage, process semconv.Process) (problem, bool) {
	at := e.stages[s.number()]
	if process != "" && at.process != process {
		return misuse(misuseProcess, "stage %v was recorded by a thread of the %s, it is documented for the %s", s, process, at.process), true
	}
	switch at.deployment {
	case semconv.DeploymentNonPD:
		if e.role == PDRoleNone {
			return problem{}, false
		}
	case semconv.DeploymentPDPrefill:
		if e.role == PDRolePrefill {
			return problem{}, false
		}
	case semconv.DeploymentPDDecode:
		if e.role == PDRoleDecode {
			return problem{}, false
		}
	default: // whether there is data or pipeline parallelism is not known here
		return problem{}, false
	}
	return misuse(misuseDeployment, "stage %v was recorded on a node with the PD role %q, it is documented for the deployment %s", s, e.role.String(), at.deployment), true
}

// requestName is the name of the request span: {role} Req {rid[:8]}.
func (e *Engine) requestName(rid string) string {
	name := "Req"
	if rid != "" {
		name = "Req " + firstCharacters(rid, 8)
	}
	switch {
	case e.role != PDRoleNone:
		name = e.role.String() + " " + name
	case e.nativeNames:
		name = " " + name
	}
	return name
}

// given reports whether t is a time: not the zero time, not the Unix epoch,
// which is what a clock that was never read gives, and one that fits into the
// nanoseconds of OTLP.
func given(t time.Time) bool {
	const most = 1 << 33 // in the year 2242
	s := t.Unix()
	return s > 0 && s < most
}

// firstCharacters returns the first n characters of s.
func firstCharacters(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
