package genaihttp

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"hash/crc64"
	"io"
	"net/http"
	"strings"
	"sync"
)

// flood is a body as long as it needs to be, made as it is read.
type flood struct {
	head, unit, tail string
	size             int64 // of all units together
	each             func()
	read             int64
	sum              uint64
	left             string
	state            int
}

var table = crc64.MakeTable(crc64.ECMA)

// often is how many bytes lie between two looks at the heap.
const often = 3 << 20

func (f *flood) Read(p []byte) (int, error) {
	if f.state == 0 && len(f.unit) > 0 {
		f.unit = strings.Repeat(f.unit, max(1, (16<<10)/len(f.unit)))
	}
	for len(f.left) == 0 {
		switch {
		case f.state == 0:
			f.left, f.state = f.head, 1
		case f.state == 1 && f.read < f.size:
			f.left = f.unit
		case f.state == 1:
			f.left, f.state = f.tail, 2
		default:
			return 0, io.EOF
		}
	}
	n := copy(p, f.left)
	f.left = f.left[n:]
	if f.read/often != (f.read+int64(n))/often {
		f.each()
	}
	f.read += int64(n)
	f.sum = crc64.Update(f.sum, table, p[:n])
	return n, nil
}

func (f *flood) Close() error { return nil }

const (
	asks     = `{"model":"m","stream":true}`
	toolCall = `{"index":0,"id":"i","function":{"name":"f","arguments":"{\"a\":1}"}},`
)

// floods are what no client and no engine sends.
var floods = map[string]struct {
	request, response flood
	kind              string
	header            http.Header // of the request
}{
	"a request of 100 MB":          {flood{head: `{"model":"m","messages":[{"role":"user","content":"`, unit: "word ", tail: `"}]}`, size: 100e6}, flood{head: "{}"}, "application/json", nil},
	"many messages":                {flood{head: `{"model":"m","messages":[`, unit: `{"role":"user","content":"hi"},`, tail: `{}]}`, size: 8e6}, flood{head: "{}"}, "application/json", nil},
	"a million levels":             {flood{head: `{"model":"m","x":`, unit: `[`, size: 1e6}, flood{head: `{"id":"c","x":`, unit: `{"a":`, size: 5e6}, "application/json", nil},
	"a member name without end":    {flood{head: `{"model":"m","`, unit: "k", size: 6e6}, flood{head: `{"`, unit: "k", size: 6e6}, "application/json", nil},
	"a number without end":         {flood{head: `{"model":"m","n":`, unit: "7", size: 6e6}, flood{head: `{"usage":{"prompt_tokens":`, unit: "7", size: 6e6}, "application/json", nil},
	"an event of 16 MiB":           {flood{head: asks}, flood{head: role + `data: {"choices":[{"index":0,"delta":{"content":"`, unit: "x", tail: `"}}]}` + "\n\n" + finish + endMark, size: 16 << 20}, "text/event-stream", nil},
	"an endless stream":            {flood{head: asks}, flood{head: role, unit: chunk("word "), tail: finish + usage + endMark, size: 12e6}, "text/event-stream", nil},
	"an endless line":              {flood{head: asks}, flood{head: role, unit: "x", size: 6e6}, "text/event-stream", nil},
	"an event of empty lines":      {flood{head: asks}, flood{head: role, unit: "data:\n", tail: "\n", size: 6e6}, "text/event-stream", nil},
	"100,000 tool calls":           {flood{head: asks}, flood{head: `data: {"choices":[{"index":0,"delta":{"tool_calls":[`, unit: toolCall, tail: `{}]}}]}` + "\n\n" + finish + endMark, size: int64(100_000 * len(toolCall))}, "text/event-stream", nil},
	"100,000 tool calls, streamed": {flood{head: asks}, flood{unit: `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{}"},"id":"i"}]}}]}` + "\n\n", tail: finish + endMark, size: 8e6}, "text/event-stream", nil},
	"arguments without end":        {flood{head: asks}, flood{head: `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"`, unit: "x", size: 6e6}, "text/event-stream", nil},
	"choices without end":          {flood{head: asks}, flood{head: `data: {"choices":[`, unit: `{"delta":{"content":"abc"},"finish_reason":"` + strings.Repeat("r", 64) + `"},`, size: 6e6}, "text/event-stream", nil},
	"duplicate members":            {flood{head: `{"model":"m"`, unit: `,"user":"u","n":1`, tail: "}", size: 6e6}, flood{head: `{"id":"c"`, unit: `,"id":"d","model":"x","usage":{"prompt_tokens":1}`, tail: "}", size: 6e6}, "application/json", nil},
	"bytes that are not text":      {flood{head: `{"model":"m","messages":[{"content":"`, unit: "\xff\xc0\x80\xed\xa0\x80", size: 6e6}, flood{head: role + `data: {"choices":[{"delta":{"content":"`, unit: "\xff\xf5", size: 6e6}, "text/event-stream", nil},
	"NUL":                          {flood{head: `{"model":"m","x":"`, unit: "\x00", size: 6e6}, flood{unit: "\x00", size: 6e6}, "text/event-stream", nil},
	"everything at once":           {flood{head: `{"model":"m","stream":true,"messages":[`, unit: `{"role":"user","content":"` + strings.Repeat("z", 900) + `"},`, tail: "{}]}", size: 24e6}, everyLimit(), "text/event-stream", nil},
	"escapes":                      {flood{head: `{"model":"m","messages":[{"content":"`, unit: `\u0000\ud83d`, size: 6e6}, flood{head: role + `data: {"choices":[{"delta":{"content":"`, unit: `\ud83c\udf0d`, size: 6e6}, "text/event-stream", nil},
}

// everyLimit fills all that is kept of an answer, and then begins an event that
// fills what is kept of one.
func everyLimit() flood {
	var head strings.Builder
	fmt.Fprintf(&head, `data: {"choices":[{"delta":{"content":"%s"}}]}`+"\n\n", strings.Repeat("x", 1<<20))
	call := `{"index":%d,"id":"i%d","function":{"name":"f","arguments":"` + strings.Repeat("y", 16<<10) + `"}},`
	for i := range 80 {
		fmt.Fprintf(&head, `data: {"choices":[{"delta":{"tool_calls":[`+call+"{}]}}]}\n\n", i, i)
	}
	head.WriteString(`data: {"choices":[{"delta":{"tool_calls":[`)
	return flood{head: head.String(), unit: fmt.Sprintf(call, 100, 100), size: 40e6}
}

// bomb is a gzip of a document of 100 MB.
var bomb = sync.OnceValue(func() string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, `{"model":"m","id":"c","x":"`)
	for zeros := bytes.Repeat([]byte("0"), 1<<20); b.Len() < 100<<10; {
		_, _ = z.Write(zeros)
	}
	_, _ = io.WriteString(z, `","model":"late","id":"late"}`)
	_ = z.Close()
	return b.String()
})
