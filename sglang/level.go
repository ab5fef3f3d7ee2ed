package sglang

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel"

	"github.com/infertel/infertel-go/semconv"
)

// Level is how much of a request is recorded: its spans, and the stages and
// events of that level or a lower one. Documented levels are 1 to 4.
type Level int

// The levels that have a name.
const (
	// LevelOff records no native span at all. Metrics are reported all the same.
	LevelOff Level = semconv.SGLangTraceLevelOff
	// LevelDefault records all stages but run_batch_cpu.
	LevelDefault Level = semconv.SGLangTraceLevelDefault
)

// EnvTraceLevel is the environment variable that holds the trace level of new
// requests, where the code sets none.
const EnvTraceLevel = semconv.SGLangTraceLevelEnv

func (l Level) check() error {
	if l < 0 {
		return fmt.Errorf("trace level is %d, want 0 or more", l)
	}
	return nil
}

func parseLevel(text string) (Level, error) {
	n, err := strconv.Atoi(text)
	text = shown(text)
	switch {
	case errors.Is(err, strconv.ErrRange) && !strings.HasPrefix(text, "-"):
		return 0, fmt.Errorf("trace level is %q, want a smaller number", text)
	case err != nil:
		return 0, fmt.Errorf("trace level is %q, want an integer of 0 or more", text)
	}
	return Level(n), Level(n).check()
}

// initialLevel is the level that the code set, else the environment's, else the
// default. One that cannot be used is reported and means the default.
func initialLevel(set *Level) Level {
	if set != nil {
		if err := set.check(); err != nil {
			otel.Handle(fmt.Errorf("sglang: %w; taking %d", err, LevelDefault))
			return LevelDefault
		}
		return *set
	}
	text := strings.TrimSpace(os.Getenv(EnvTraceLevel))
	if text == "" {
		return LevelDefault
	}
	l, err := parseLevel(text)
	if err != nil {
		otel.Handle(fmt.Errorf("sglang: %s: %w; taking %d", EnvTraceLevel, err, LevelDefault))
		return LevelDefault
	}
	return l
}

// TraceLevel returns the level of requests that start from now on.
func (e *Engine) TraceLevel() Level {
	if e == nil {
		return LevelOff
	}
	return Level(e.level.Load())
}

// SetTraceLevel sets the level of requests that start from now on; those that
// run keep theirs, in every process. It returns an error, and changes nothing,
// if the level is negative. It is safe for concurrent use.
func (e *Engine) SetTraceLevel(l Level) error {
	if err := l.check(); err != nil {
		return fmt.Errorf("sglang: %w", err)
	}
	if e != nil {
		e.level.Store(int64(l))
	}
	return nil
}

// LevelHandler returns the engine's operation /set_trace_level?level=N: it sets
// the level of requests that start from now on and answers "success". It takes
// GET and POST, and answers 422 with a reason where the level is missing,
// negative or no integer. That of a nil Engine answers 503. The handler does not
// ask who calls; mount it where only operators can reach it.
func (e *Engine) LevelHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if e == nil {
			http.Error(w, "there is no telemetry whose trace level could be set", http.StatusServiceUnavailable)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodGet+", "+http.MethodPost)
			http.Error(w, "method is "+strconv.Quote(shown(r.Method))+", want GET or POST", http.StatusMethodNotAllowed)
			return
		}
		given := r.URL.Query()[semconv.SGLangTraceLevelParameter]
		if len(given) == 0 {
			http.Error(w, "query parameter "+semconv.SGLangTraceLevelParameter+" is missing, want "+semconv.SGLangTraceLevelPath+"?"+semconv.SGLangTraceLevelParameter+"=N with an integer N of 0 or more", http.StatusUnprocessableEntity)
			return
		}
		level, err := parseLevel(given[len(given)-1])
		if err == nil {
			err = e.SetTraceLevel(level)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "success")
	})
}
