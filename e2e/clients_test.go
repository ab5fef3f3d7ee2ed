package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

// call is one call that a client makes, and the answer it is given.
type call struct {
	Kind    string          `json:"kind"` // chat, completions, embeddings
	Request json.RawMessage `json:"request"`
	Stream  bool            `json:"stream"`
	// Leaves: the client goes after the first piece, and the server sends no
	// more until it has.
	Leaves bool `json:"leaves"`
	// Headers has X-Call, the number of the call, and a trace context.
	Headers map[string]string `json:"headers"`

	file   string // the answer's body
	zipped bool
	want   expected
}

// expected is what the answer says, from the list beside the bodies.
type expected struct {
	RequestFile string `json:"request_file"`
	Span        string
	ID          string `json:"response_id"`
	Model       string `json:"response_model"`
	Status      int    `json:"http_status"`
	Finish      []any
	Usage       map[string]any
	Content     []any
	Tools       [][][]any
	Dimension   int
	Count       int
	Error       map[string]any
}

// callsOf returns a call for each answer of an engine that OpenAI's clients can
// ask for, some of them in gzip too, and one that is given up.
func callsOf(t *testing.T, engine string) []call {
	t.Helper()
	var all map[string]expected
	if err := json.Unmarshal(body(t, "expected.json"), &all); err != nil {
		t.Fatal(err)
	}
	var calls []call
	var left call
	for _, name := range slices.Sorted(maps.Keys(all)) {
		want := all[name]
		kind := strings.Split(strings.TrimSuffix(want.RequestFile, ".request.json"), "-")
		if !strings.HasPrefix(name, engine) || want.RequestFile == "" || kind[1] == "rerank" {
			continue
		}
		c := call{Kind: kind[1], Request: body(t, want.RequestFile), Stream: strings.HasSuffix(name, ".sse"), file: name, want: want}
		if c.Kind == "embeddings" && strings.Contains(name, "base64") {
			// The client for Node.js asks for this form by itself.
			c.Request = bytes.Replace(c.Request, []byte(`,"encoding_format":"base64"`), nil, 1)
		}
		calls = append(calls, c)
		if c.Kind == "chat" && !strings.Contains(name, "error") {
			c.zipped = true
			calls = append(calls, c)
		}
		if c.Stream && c.Kind == "chat" && want.Error == nil && !strings.Contains(name, "-stream-") {
			left = c
			left.zipped, left.Leaves = false, true
		}
	}
	calls = append(calls, left)
	for i := range calls {
		c := &calls[i]
		c.Headers = map[string]string{"X-Call": strconv.Itoa(i), "traceparent": fmt.Sprintf("00-%032x-%s-01", i+1, callerSpan)}
	}
	return calls
}

const callerSpan = "b7ad6b7169203331"

func (c *call) traceID() string { return strings.Split(c.Headers["traceparent"], "-")[1] }

// engine answers like an inference server, with the bodies that one wrote, and
// keeps what it got and sent.
type engine struct {
	t     *testing.T
	calls []call
	mu    sync.Mutex
	got   map[string]received // by the header X-Call
}

type received struct {
	header http.Header
	body   []byte
	sent   []byte
}

func (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, _ := io.ReadAll(r.Body)
	id := r.Header.Get("X-Call")
	i, err := strconv.Atoi(id)
	if err != nil {
		e.t.Errorf("the header X-Call is %q", id)
		return
	}
	c := e.calls[i]
	if c.Kind == "embeddings" {
		c.file = "vllm-embeddings.json"
		if bytes.Contains(request, []byte(`"encoding_format":"base64"`)) {
			c.file = "vllm-embeddings-base64.json"
		}
	}
	b := body(e.t, c.file)
	h := w.Header()
	h.Set("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
	h.Set("Server", "uvicorn")
	h.Set("X-Request-Id", "req-"+id)
	h["X-Twice"] = []string{"a", "b"}
	h.Set("Content-Type", "application/json")
	if c.Stream {
		h.Set("Content-Type", "text/event-stream; charset=utf-8")
	}
	if c.zipped {
		h.Set("Content-Encoding", "gzip")
		b = zip(b)
	}
	e.mu.Lock()
	e.got[id] = received{r.Header.Clone(), request, b}
	e.mu.Unlock()
	if !c.Stream {
		h.Set("Content-Length", strconv.Itoa(len(b)))
		w.WriteHeader(max(c.want.Status, http.StatusOK))
		_, _ = w.Write(b)
		return
	}
	for first := true; len(b) > 0; first = false {
		n := min(len(b), 100)
		if first {
			n = min(len(b), 600) // an event at least
		}
		_, _ = w.Write(b[:n])
		w.(http.Flusher).Flush()
		b = b[n:]
		if c.Leaves {
			<-r.Context().Done()
			return
		}
	}
}

func zip(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}

// TestClients runs real clients on an engine, once directly and once through the
// gateway. Neither side may see a difference on the wire, but for what a gateway
// adds to a request.
func TestClients(t *testing.T) {
	for client, run := range map[string]func(*testing.T, string, []call) []result{"go": goClient, "node": nodeClient} {
		for _, name := range []string{"vllm", "sglang"} {
			t.Run(client+"/"+name, func(t *testing.T) {
				calls := callsOf(t, name)
				alone := &engine{t: t, calls: calls, got: map[string]received{}}
				server := httptest.NewServer(alone)
				defer server.Close()
				tap := tapInto(t, server.URL)
				want := run(t, tap.url, calls)
				direct := tap.exchanges()

				behind := &engine{t: t, calls: calls, got: map[string]received{}}
				g := startGateway(t, name, behind)
				tap = tapInto(t, g.url)
				got := run(t, tap.url, calls)
				passed := tap.exchanges()
				if code := g.stop(); code != 0 {
					t.Errorf("exit status %d\n%s", code, &g.stderr)
				}
				spans := map[string]otlptest.Span{}
				for _, s := range g.receiver.FlatSpans() {
					spans[s.TraceID] = s
				}
				if n := len(g.receiver.Spans()); n != len(calls) || len(spans) != n {
					t.Fatalf("%d spans in %d traces, want %d", n, len(spans), len(calls))
				}

				for i, c := range calls {
					id := strconv.Itoa(i)
					what := c.file + " in call " + id
					if !reflect.DeepEqual(got[i], want[i]) {
						t.Errorf("%s: the client made of it\n%+v, without the gateway\n%+v", what, got[i], want[i])
					}
					sameAnswer(t, what, passed[id], direct[id], behind.got[id].sent)
					sameRequest(t, what, behind.got[id], alone.got[id])
					understood(t, what, c, got[i])
					if client == "node" && c.file == "vllm-embeddings-base64.json" && !bytes.Contains(behind.got[id].body, []byte(`"base64"`)) {
						t.Errorf("%s: the client asks for another form by itself: %s", what, behind.got[id].body)
					}
					told(t, what, c, spans[c.traceID()], behind.got[id])
				}
				counted(t, calls, g.receiver.LastPoints())
			})
		}
	}
}

// sameAnswer: what passed on the wire to the client is what the server sent.
func sameAnswer(t *testing.T, what string, got, want exchanged, sent []byte) {
	t.Helper()
	if got.status != want.status || !reflect.DeepEqual(got.response, want.response) || got.length != want.length ||
		!reflect.DeepEqual(got.framing, want.framing) || !reflect.DeepEqual(got.trailer, want.trailer) {
		t.Errorf("%s: the head of the answer is\n%s %v %d %v, without the gateway\n%s %v %d %v", what,
			got.status, got.response, got.length, got.framing, want.status, want.response, want.length, want.framing)
	}
	// A client may hang up at the end mark of a stream.
	if whole := got.cut == nil; !bytes.HasPrefix(sent, got.got) || whole && len(got.got) != len(sent) {
		t.Errorf("%s: %d bytes came of %d: %q", what, len(got.got), len(sent), got.got)
	}
	if got.status == "" || len(got.got) == 0 {
		t.Errorf("%s: nothing was seen on the wire", what)
	}
}

// sameRequest: the server gets what the client sent.
func sameRequest(t *testing.T, what string, got, want received) {
	t.Helper()
	header := got.header.Clone()
	want.header.Del("Connection") // of one connection only
	for _, added := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		header.Del(added)
	}
	header["Traceparent"] = want.header["Traceparent"]
	if !reflect.DeepEqual(header, want.header) || !bytes.Equal(got.body, want.body) {
		t.Errorf("%s: the server got\n%v %s, without the gateway\n%v %s", what, header, got.body, want.header, want.body)
	}
}

// understood: the client made of the answer what it says.
func understood(t *testing.T, what string, c call, got result) {
	t.Helper()
	var want result
	switch {
	case c.Leaves:
		return
	case c.want.Error != nil:
		kind := fmt.Sprint(c.want.Error["type"])
		if c.want.Status != 0 {
			kind = strconv.Itoa(c.want.Status)
		}
		if !strings.Contains(got.Error, kind) {
			t.Errorf("%s: the client says %q, want %s", what, got.Error, kind)
		}
		return
	case c.Kind == "embeddings":
		for range c.want.Count {
			want.Vectors = append(want.Vectors, c.want.Dimension)
		}
	default:
		want.ID, want.Output = c.want.ID, count(c.want.Usage["output"])
		for i, content := range c.want.Content {
			text, _ := content.(string)
			reason, _ := c.want.Finish[i].(string)
			want.Text, want.Finish = append(want.Text, text), append(want.Finish, reason)
		}
		if len(c.want.Tools) > 0 {
			for _, t := range c.want.Tools[0] {
				want.Tools = append(want.Tools, tool{t[1].(string), t[2].(string)})
			}
		}
	}
	want.Input = count(c.want.Usage["input"])
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("%s: the client made of it\n%s, want\n%s", what, g, w)
	}
}

// told: the span says what passed.
func told(t *testing.T, what string, c call, s otlptest.Span, at received) {
	t.Helper()
	want := map[string]any{"gen_ai.request.is_stream": c.Stream}
	if c.want.Error == nil && !c.Leaves {
		for direction, key := range map[string]string{"input": "gen_ai.usage.input_tokens", "output": "gen_ai.usage.output_tokens"} {
			if n := count(c.want.Usage[direction]); n > 0 {
				want[key] = n
			}
		}
		var reasons []string
		for _, f := range c.want.Finish {
			reasons = append(reasons, fmt.Sprint(f))
		}
		if reasons != nil {
			want["gen_ai.response.finish_reasons"] = reasons
		}
		if c.Kind != "embeddings" { // whose form the client chose
			want["gen_ai.response.id"] = c.want.ID
		}
	}
	for key, v := range want {
		if !reflect.DeepEqual(s.Attrs[key], v) {
			t.Errorf("%s: %s is %v, want %v", what, key, s.Attrs[key], v)
		}
	}
	failed := c.want.Error != nil || c.Leaves
	if s.Name != c.want.Span || (s.Status == "ERROR") != failed || c.Leaves && !strings.Contains(s.StatusMessage, "disconnected") {
		t.Errorf("%s: the span is %q, %s %q", what, s.Name, s.Status, s.StatusMessage)
	}
	if parent := "00-" + s.TraceID + "-" + s.SpanID + "-01"; s.ParentID != callerSpan || at.header.Get("traceparent") != parent {
		t.Errorf("%s: the span is under %s, the server got %q", what, s.ParentID, at.header.Get("traceparent"))
	}
}

// counted: the token metric has the sum of what the servers said.
func counted(t *testing.T, calls []call, points []otlptest.Point) {
	t.Helper()
	got, want := map[string]int64{}, map[string]int64{}
	for _, p := range points {
		if p.Name == "genai_llm_usage_tokens" {
			got[fmt.Sprint(p.Attrs["usageType"])] += p.Value.(int64)
		}
	}
	for _, c := range calls {
		for _, direction := range []string{"input", "output"} {
			if n := count(c.want.Usage[direction]); n > 0 && !c.Leaves {
				want[direction] += n
			}
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("the token metric counts %v, want %v", got, want)
	}
}

func count(n any) int64 {
	f, _ := n.(float64)
	return int64(f)
}
