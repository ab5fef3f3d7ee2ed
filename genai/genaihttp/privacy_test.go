package genaihttp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/genai/wire"
	"github.com/infertel/infertel-go/internal/sdktest"
)

// secret begins each text that is planted; the place where it stands follows.
const secret = "SECRET/"

// number stands for token ids and vectors.
const number = "7357735773"

// telemetry are the members whose values an entry span carries by themselves, at
// the top of a document, and those that say what the others are.
var telemetry = map[string]bool{
	"model": true, "id": true, "object": true, "user": true, "session_id": true, "request_id": true, "rid": true,
	"type": true, "finish_reason": true, "encoding_format": true, "index": true, "n": true, "code": true,
	"temperature": true, "top_p": true, "top_k": true, "max_tokens": true, "max_completion_tokens": true,
	"prompt_tokens": true, "completion_tokens": true, "total_tokens": true, "cached_tokens": true,
}

// plant puts a marker in the place of each text and number of a document but
// telemetry.
func plant(v any, path string) any {
	switch v := v.(type) {
	case string:
		return secret + path
	case json.Number:
		return json.Number(number)
	case []any:
		for i := range v {
			v[i] = plant(v[i], path+"/*")
		}
	case map[string]any:
		for name, member := range v {
			_, nested := member.(map[string]any)
			if inner := strings.Contains(path, "tool_calls") && name != "type" && name != "index"; inner || nested || !telemetry[name] {
				v[name] = plant(member, path+"/"+name)
			}
		}
	}
	return v
}

func plantJSON(t testing.TB, b []byte, path string) []byte {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return b // the end mark of a stream
	}
	out, err := json.Marshal(plant(v, path))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func plantStream(t testing.TB, b []byte) []byte {
	t.Helper()
	lines := strings.Split(string(b), "\n")
	for i, l := range lines {
		if data, ok := strings.CutPrefix(l, "data: "); ok {
			lines[i] = "data: " + string(plantJSON(t, []byte(data), "answer"))
		} else if strings.HasPrefix(l, ":") {
			lines[i] = ": " + secret + "comment"
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

// sample is a request with its answer.
type sample struct {
	name, path, contentType string
	status                  int
	request, response       []byte
}

// samples are all bodies of the engines, and requests that have every member
// that can hold text, with markers.
func samples(t testing.TB) []sample {
	t.Helper()
	var out []sample
	requests, err := filepath.Glob("../wire/testdata/*.request.json")
	if err != nil || len(requests) < 10 {
		t.Fatal(len(requests), err)
	}
	add := func(name, request string, status int, response []byte) {
		kind := strings.Split(filepath.Base(request), "-")[1]
		kind = strings.TrimSuffix(kind, ".request.json")
		s := sample{name: name, path: paths[kind], status: status, request: plantJSON(t, testdata(t, filepath.Base(request)), "request")}
		if s.contentType = "application/json"; strings.HasSuffix(name, ".sse") {
			s.contentType, s.response = "text/event-stream", plantStream(t, response)
		} else {
			s.response = plantJSON(t, response, "answer")
		}
		out = append(out, s)
	}
	for _, r := range requests {
		base := strings.TrimSuffix(r, ".request.json")
		for _, suffix := range []string{".json", ".sse"} {
			if b, err := os.ReadFile(base + suffix); err == nil {
				add(filepath.Base(base+suffix), r, 200, b)
			}
		}
	}
	cases, _ := filepath.Glob("../wire/testdata/cases/*.sse")
	for _, c := range append(cases, "../wire/testdata/vllm-chat-stream-error.sse") {
		b, err := os.ReadFile(c)
		if err != nil {
			t.Fatal(err)
		}
		add(filepath.Base(c), "vllm-chat-stream.request.json", 200, b)
	}
	for _, name := range []string{"vllm-error-400.json", "vllm-error-400-old.json", "sglang-error-400.json"} {
		add(name, "vllm-chat.request.json", 400, testdata(t, name))
	}
	for name, body := range texts {
		add(name, "vllm-"+name+".request.json", 200, []byte(`{"id":"c","choices":[{"message":{"content":"a","refusal":"b","audio":{"data":"YQ==","transcript":"t"}},"stop_reason":"s","logprobs":{"content":[{"token":"a","bytes":[1],"top_logprobs":[{"token":"b"}]}]}}],"prompt_token_ids":[1,2],"kv_transfer_params":{"a":"b"}}`))
		out[len(out)-1].request = plantJSON(t, []byte(body), "request")
	}
	return out
}

// texts are requests with every member that can hold text.
var texts = map[string]string{
	"chat": `{"model":"m","stream":true,"user":"u","stop":["a","b"],"metadata":{"k":"v"},"logit_bias":{"50256":-100},"seed":1,
		"messages":[{"role":"system","name":"n","content":"a"},{"role":"developer","content":"d"},
		{"role":"user","content":[{"type":"text","text":"t"},"bare",{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD","detail":"d"}},
		{"type":"input_audio","input_audio":{"data":"QUJD","format":"wav"}},{"type":"file","file":{"file_id":"f","file_data":"QUJD","filename":"n"}},
		{"type":"video_url","video_url":{"url":"https://x/y"}},{"type":"refusal","refusal":"r"},{"type":"novel","payload":"p"}]},
		{"role":"assistant","content":null,"reasoning":"r","reasoning_content":"q","refusal":"no","tool_calls":[{"id":"i","type":"function","function":{"name":"f","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"i","content":"result"},{"role":"function","name":"f","content":"result"}],
		"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"properties":{"city":{"description":"c","enum":["e"]}}}}}],
		"tool_choice":{"type":"function","function":{"name":"f"}},"functions":[{"name":"f"}],
		"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"title":"t"}}},"guided_json":{"a":"b"},"guided_regex":"r","guided_choice":["x"],"structured_outputs":{"grammar":"g"},
		"chat_template":"c","chat_template_kwargs":{"a":"b"},"documents":[{"title":"t","text":"x"}],"kv_transfer_params":{"a":"b"},"prediction":{"content":"p"},"lora_path":"l","mm_processor_kwargs":{"a":"b"},"bad_words":["w"],"input_ids":[1,2]}`,
	"completions": `{"model":"m","prompt":["a","b"],"suffix":"s","stop":"x","echo":true,"prompt_embeds":"QUJD","regex":"r","json_schema":"{}"}`,
	"embeddings":  `{"model":"m","input":["a",[1,2,3]],"messages":[{"role":"user","content":"c"}],"dimensions":3}`,
	"rerank":      `{"model":"m","query":{"text":"q"},"documents":["d",{"text":"e"}],"text_1":"t","text_2":["u"],"data_1":"d","items":["i"],"instruction":"i"}`,
}

// everything gives all that was exported as the bytes that were on the wire and
// as readable text.
func everything(t testing.TB, b *sdktest.Bed) string {
	t.Helper()
	b.Flush()
	var out bytes.Buffer
	add := func(m proto.Message) {
		raw, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		text, err := protojson.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(raw)
		out.Write(text)
	}
	for _, m := range b.Receiver.TraceRequests() {
		add(m)
	}
	for _, m := range b.Receiver.MetricRequests() {
		add(m)
	}
	for _, m := range b.Receiver.LogRequests() {
		add(m)
	}
	return out.String()
}

// leaks returns what follows each marker in s.
func leaks(s string) []string {
	var out []string
	for _, marker := range []string{secret, number} {
		for rest := s; ; {
			_, after, found := strings.Cut(rest, marker)
			if !found {
				break
			}
			out = append(out, fmt.Sprintf("%.60q", marker+after))
			rest = after
		}
	}
	return out
}

// send has a sample pass at one place.
func send(t testing.TB, b *bed, where string, s sample) {
	t.Helper()
	header := []string{"X-Request-Id", "xreq-1", "X-Session-Id", "sess-1", "Authorization", secret + "header", "X-Custom", secret + "header", "Cookie", secret + "header", "Baggage", secret + "baggage=1"}
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Answer", secret+"header")
		w.Header().Set("Trailer", "X-End")
		defer w.Header().Set("X-End", secret+"trailer")
		canned(s.status, s.contentType, cut(s.response, 50)...)(w, r)
	})
	url := s.path + "?q=" + secret + "query"
	switch where {
	case "handler":
		r := httptest.NewRequest(http.MethodPost, url, bytes.NewReader(s.request))
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		NewHandler(answer, b.inst).ServeHTTP(w, r)
		if !bytes.Equal(w.Body.Bytes(), s.response) {
			t.Errorf("%s: what passed was changed", s.name)
		}
	case "transport":
		client := plain(t)
		client.Transport = NewTransport(client.Transport, b.inst)
		if got := post(t, client, serve(t, answer).URL+url, s.request, header...); !bytes.Equal(got.body, s.response) {
			t.Errorf("%s: what passed was changed", s.name)
		}
	case "wire":
		op, _ := wire.OperationOf(s.path)
		_, x := wire.Start(context.Background(), b.inst, wire.RequestHead{Operation: op, RequestID: "xreq-1", SessionID: "sess-1"})
		for _, p := range cut(s.request, 11) {
			x.RequestBody(p)
		}
		x.ResponseHead(wire.ResponseHead{Status: s.status, ContentType: s.contentType})
		for _, p := range cut(s.response, 13) {
			x.ResponseBody(p)
		}
		x.End(nil)
	}
}

// TestNothingThatWasWrittenIsExported: with content off, no text of a request or
// an answer is in any exported byte of the three signals or in an error report,
// but for the tool calls on the chat streams of SGLang where they are left on.
func TestNothingThatWasWrittenIsExported(t *testing.T) {
	all := samples(t)
	for _, c := range []struct {
		name string
		opts []genai.Option
		want string // in what is found, "" for nothing
	}{
		{"vLLM", []genai.Option{genai.WithEngine(genai.EngineVLLM), genai.WithErrorType()}, ""},
		{"SGLang without arguments", []genai.Option{genai.WithEngine(genai.EngineSGLang), genai.WithErrorType(), genai.WithoutToolCallArguments()}, "function/name"},
		{"SGLang", []genai.Option{genai.WithEngine(genai.EngineSGLang), genai.WithErrorType()}, "function/"},
		{"public", []genai.Option{genai.WithPublicEndpoint(), genai.WithErrorType()}, ""},
		{"content on", []genai.Option{genai.WithContent(genai.ContentSpanAndEvent)}, "request/messages"},
	} {
		for _, where := range []string{"handler", "transport", "wire"} {
			t.Run(c.name+" "+where, func(t *testing.T) {
				errs := sdktest.HandleErrors(t)
				b := newBed(t, c.opts...)
				for _, s := range all {
					send(t, b, where, s)
				}
				found := leaks(everything(t, b.Bed))
				for range all {
					b.end()
				}
				if c.want == "" && len(found) > 0 || c.want != "" && len(found) == 0 {
					t.Errorf("%d markers are exported, such as %v; want %q", len(found), found[:min(len(found), 5)], c.want)
				}
				for _, f := range found {
					if strings.HasPrefix(c.want, "function") && !strings.Contains(f, c.want) {
						t.Errorf("%s is exported", f)
					}
				}
				if reported := leaks(fmt.Sprint(errs.Take())); len(reported) > 0 {
					t.Errorf("%v is reported", reported)
				}
			})
		}
	}
}
