package frameworks

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/genai/genaihttp"
)

// router is a way to put the handler into a framework.
type router struct {
	path string // of the request
	// param is a part of the path that the framework names, "" for none.
	param func(*http.Request) string
	// inside: the observation stands around the framework's routing, and so sees
	// what that refuses.
	inside bool
	// recovery: the framework's own recovery stands inside of the observation.
	recovery bool
	build    func(inst *genai.Instrumentation, app http.HandlerFunc) http.Handler
}

var routers = map[string]router{
	"ServeMux, a method": {
		path: "/v1/chat/completions",
		build: func(inst *genai.Instrumentation, app http.HandlerFunc) http.Handler {
			mux := http.NewServeMux()
			mux.Handle("POST /v1/chat/completions", genaihttp.NewHandler(app, inst))
			return recovering(mux)
		},
	},
	"ServeMux, wildcards": {
		path:  "/teams/blue/v1/chat/completions",
		param: func(r *http.Request) string { return r.PathValue("team") + " " + r.PathValue("rest") },
		build: func(inst *genai.Instrumentation, app http.HandlerFunc) http.Handler {
			mux := http.NewServeMux()
			mux.Handle("POST /teams/{team}/v1/{rest...}", genaihttp.NewHandler(app, inst))
			return recovering(mux)
		},
	},
	"ServeMux, around": {
		path:   "/v1/chat/completions",
		inside: true,
		build: func(inst *genai.Instrumentation, app http.HandlerFunc) http.Handler {
			mux := http.NewServeMux()
			mux.Handle("POST /v1/chat/completions", app)
			return recovering(genaihttp.NewHandler(mux, inst))
		},
	},
	"StripPrefix": {
		path: "/team/api/v1/chat/completions",
		build: func(inst *genai.Instrumentation, app http.HandlerFunc) http.Handler {
			inner := http.NewServeMux()
			inner.Handle("POST /v1/chat/completions", genaihttp.NewHandler(app, inst))
			outer := http.NewServeMux()
			outer.Handle("/team/", http.StripPrefix("/team/api", inner))
			return recovering(outer)
		},
	},
	"StripPrefix, around": {
		path: "/team/api/v1/chat/completions",
		build: func(inst *genai.Instrumentation, app http.HandlerFunc) http.Handler {
			inner := http.NewServeMux()
			inner.Handle("POST /v1/chat/completions", app)
			outer := http.NewServeMux()
			outer.Handle("/team/", genaihttp.NewHandler(http.StripPrefix("/team/api", inner), inst))
			return recovering(outer)
		},
		inside: true,
	},
	"chi, middleware": {
		path:   "/v1/chat/completions",
		inside: true,
		build: func(inst *genai.Instrumentation, app http.HandlerFunc) http.Handler {
			r := chi.NewRouter()
			r.Use(middleware.RequestID, quietLog, recovering, middleware.Compress(5), observing(inst))
			r.Post("/v1/chat/completions", app)
			return r
		},
	},
	"chi, mounted": {
		path:  "/teams/blue/v1/chat/completions",
		param: func(r *http.Request) string { return chi.URLParam(r, "team") },
		build: func(inst *genai.Instrumentation, app http.HandlerFunc) http.Handler {
			v1 := chi.NewRouter()
			v1.With(observing(inst)).Post("/chat/completions", app)
			r := chi.NewRouter()
			r.Use(recovering)
			r.Mount("/teams/{team}/v1", v1)
			return r
		},
	},
	"chi, Recoverer within": {
		path:     "/v1/chat/completions",
		inside:   true,
		recovery: true,
		build: func(inst *genai.Instrumentation, app http.HandlerFunc) http.Handler {
			r := chi.NewRouter()
			r.Use(observing(inst), chiRecoverer)
			r.Post("/v1/chat/completions", app)
			return r
		},
	},
	"gin.WrapH": {
		path: "/v1/chat/completions",
		build: func(inst *genai.Instrumentation, app http.HandlerFunc) http.Handler {
			r := gin.New()
			r.Use(gin.RecoveryWithWriter(io.Discard, func(c *gin.Context, _ any) { c.AbortWithStatus(http.StatusInternalServerError) }))
			r.POST("/v1/chat/completions", gin.WrapH(genaihttp.NewHandler(app, inst)))
			return r
		},
	},
	"gin, around the engine": {
		path:     "/teams/blue/v1/chat/completions",
		inside:   true,
		recovery: true,
		build: func(inst *genai.Instrumentation, app http.HandlerFunc) http.Handler {
			r := gin.New()
			r.Use(gin.RecoveryWithWriter(io.Discard))
			r.POST("/teams/:team/v1/chat/completions", func(c *gin.Context) {
				if c.Param("team") != "blue" {
					c.Status(http.StatusBadRequest)
					return
				}
				app(c.Writer, c.Request)
			})
			return genaihttp.NewHandler(r, inst)
		},
	},
}

func observing(inst *genai.Instrumentation) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler { return genaihttp.NewHandler(next, inst) }
}

// quietLog is chi's logger, which wraps the writer, without its output.
func quietLog(next http.Handler) http.Handler {
	return middleware.RequestLogger(&middleware.DefaultLogFormatter{Logger: quiet, NoColor: true})(next)
}

func chiRecoverer(next http.Handler) http.Handler {
	h := middleware.Recoverer(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// It prints the stack where there is no log entry to give it to.
		h.ServeHTTP(w, middleware.WithLogEntry(r, discard{}))
	})
}

type discard struct{}

func (discard) Write(int, int, http.Header, time.Duration, any) {}
func (discard) Panic(any, []byte)                               {}

// recovering is a recovery middleware.
func recovering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch v := recover(); v {
			case nil:
			case http.ErrAbortHandler:
				panic(v)
			default:
				w.WriteHeader(http.StatusInternalServerError)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

type contextKey struct{}

// withValue puts a value into the context of every request.
func withValue(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), contextKey{}, "outer")))
	})
}

// TestRoutersStream: each piece reaches the client at once, the writer can what
// it can without the handler, and the application sees what was put around it.
func TestRoutersStream(t *testing.T) {
	for name, router := range routers {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			ticks := make(chan struct{})
			var header, value, param string
			var span trace.SpanContext
			app := func(w http.ResponseWriter, r *http.Request) {
				header, value, span = r.Header.Get("traceparent"), r.Context().Value(contextKey{}).(string), trace.SpanContextFromContext(r.Context())
				if router.param != nil {
					param = router.param(r)
				}
				rc := http.NewResponseController(w)
				if err := rc.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
					t.Error("SetWriteDeadline: ", err)
				}
				if err := rc.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
					t.Error("SetReadDeadline: ", err)
				}
				if err := rc.EnableFullDuplex(); err != nil {
					t.Error("EnableFullDuplex: ", err)
				}
				w.Header().Set("Content-Type", "text/event-stream")
				if err := rc.Flush(); err != nil {
					t.Error("Flush: ", err)
				}
				streaming(ticks)(w, r)
			}
			resp := send(t, http.MethodPost, serve(t, withValue(router.build(b.inst, app))).URL+router.path)
			readPieces(t, resp, ticks)
			s := b.entry()
			isWhole(t, s)
			if s.TraceID != callerTrace || s.ParentID != callerSpan {
				t.Errorf("the span is in %s under %s", s.TraceID, s.ParentID)
			}
			if onward := "00-" + s.TraceID + "-" + s.SpanID + "-01"; header != onward || span.SpanID().String() != s.SpanID {
				t.Errorf("the application sees traceparent %q and span %s, want %s", header, span.SpanID(), s.SpanID)
			}
			if value != "outer" || router.param != nil && !strings.HasPrefix(param, "blue") {
				t.Errorf("the application sees the value %q and the parameter %q", value, param)
			}
		})
	}
}

// TestRoutersRefuse: what a router refuses has a span only if the observation
// stands around it and the path is one of an inference.
func TestRoutersRefuse(t *testing.T) {
	for name, router := range routers {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			app := func(http.ResponseWriter, *http.Request) { t.Error("the application was called") }
			url := serve(t, withValue(router.build(b.inst, app))).URL
			prefix := strings.TrimSuffix(router.path, "/v1/chat/completions")
			for _, c := range []struct {
				method, path string
				inference    bool
			}{
				{http.MethodGet, "/nothing", false},
				{http.MethodPost, prefix + "/v2/nothing", false},
				{http.MethodGet, router.path, false}, // a wrong method
				{http.MethodPost, prefix + "/v2/embeddings", true},
			} {
				resp := send(t, c.method, url+c.path)
				if resp.StatusCode != http.StatusNotFound && resp.StatusCode != http.StatusMethodNotAllowed {
					t.Errorf("%s %s: status %d", c.method, c.path, resp.StatusCode)
				}
				if !c.inference || !router.inside {
					b.only(0)
				} else if s := b.entry(); s.Name != "embeddings m" || s.Status != "ERROR" || s.StatusMessage != "HTTP 404" {
					t.Errorf("%s: the span is %q, %s %q", c.path, s.Name, s.Status, s.StatusMessage)
				}
			}
		})
	}
}

// TestRoutersPanic: a panic reaches the recovery that stands around the
// observation, and the span ends once.
func TestRoutersPanic(t *testing.T) {
	for name, router := range routers {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			app := func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				panic("boom")
			}
			resp := send(t, http.MethodPost, serve(t, withValue(router.build(b.inst, app))).URL+router.path)
			want := "the handler panicked"
			if router.recovery {
				want = "HTTP 500"
			}
			if s := b.entry(); resp.StatusCode != http.StatusInternalServerError || s.Name != "chat m" || s.Status != "ERROR" || s.StatusMessage != want {
				t.Errorf("status %d, the span is %q, %s %q", resp.StatusCode, s.Name, s.Status, s.StatusMessage)
			}
		})
	}
}
