package genaihttp

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
)

const (
	maxInjected = 4 << 20  // the longest body that is read to ask for the usage
	maxHeld     = 64 << 10 // the longest event that can be the answer to it
)

const usageOption = `{"stream_options":{"include_usage":true},`

// askForUsage makes a request for a stream ask for its usage, unless it says
// itself what it wants, and returns the filter that keeps the answer to that
// from the client, or nil if the request is not changed.
func askForUsage(r *http.Request) *usageFilter {
	if r.Body == nil || r.Body == http.NoBody || r.Header.Get("Content-Encoding") != "" {
		return nil
	}
	original := r.Body
	head, err := io.ReadAll(io.LimitReader(original, maxInjected+1))
	rest := io.Reader(original)
	if err != nil {
		rest = failedReader{err} // the handler shall meet the error where it is
	}
	pass := func(first []byte) {
		r.Body = readCloser{io.MultiReader(bytes.NewReader(first), rest), original}
	}
	// Members by their exact names: a struct would take any case for them.
	var wanted map[string]json.RawMessage
	body := bytes.TrimLeft(head, " \t\r\n")
	if err != nil || len(head) > maxInjected || json.Unmarshal(head, &wanted) != nil || string(wanted["stream"]) != "true" || wanted["stream_options"] != nil {
		pass(head)
		return nil
	}
	changed := append([]byte(usageOption), body[1:]...)
	pass(changed)
	r.ContentLength = int64(len(changed))
	r.TransferEncoding = nil
	r.Header.Set("Content-Length", strconv.Itoa(len(changed)))
	// A compressed answer could not be taken apart.
	r.Header.Set("Accept-Encoding", "identity")
	return &usageFilter{}
}

type readCloser struct {
	io.Reader
	io.Closer
}

type failedReader struct{ err error }

func (f failedReader) Read([]byte) (int, error) { return 0, f.err }

// usageFilter takes the event that holds nothing but the usage out of a stream.
type usageFilter struct {
	held    []byte // of an event that is not whole yet
	out     []byte
	text    bool // the line being read is not empty
	passing bool // the event is too long to be the one
}

// applies reports whether the answer is a stream that can be filtered.
func (f *usageFilter) applies(status int, h http.Header) bool {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return f != nil && status == http.StatusOK && strings.EqualFold(strings.TrimSpace(kind), "text/event-stream") &&
		h.Get("Content-Encoding") == "" && h.Get("Content-Length") == ""
}

// pass returns what of p, and of what was held before it, goes to the client.
func (f *usageFilter) pass(p []byte) []byte {
	f.out = f.out[:0]
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n') + 1
		line := p
		if end > 0 {
			line = p[:end]
		}
		p = p[len(line):]
		if !f.passing && len(f.held)+len(line) > maxHeld {
			f.out = append(f.out, f.held...)
			f.held, f.passing = f.held[:0], true
		}
		if f.passing {
			f.out = append(f.out, line...)
		} else {
			f.held = append(f.held, line...)
		}
		if f.text = f.text || len(bytes.TrimRight(line, "\r\n")) > 0; end == 0 {
			break
		}
		if !f.text { // an empty line ends the event
			if !isUsageEvent(f.held) {
				f.out = append(f.out, f.held...)
			}
			f.held, f.passing = f.held[:0], false
		}
		f.text = false
	}
	return f.out
}

func isUsageEvent(event []byte) bool {
	data, found := bytes.CutPrefix(bytes.TrimSpace(event), []byte("data:"))
	if !found || !bytes.Contains(data, []byte(`"usage"`)) {
		return false
	}
	var chunk struct {
		Choices []json.RawMessage `json:"choices"`
		Usage   *json.RawMessage  `json:"usage"`
	}
	return json.Unmarshal(data, &chunk) == nil && chunk.Choices != nil && len(chunk.Choices) == 0 && chunk.Usage != nil
}
