package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// maxLine bounds one line. The Collector writes one export request to a line, and
// its own limit for those that arrive is 4 MiB in binary.
const maxLine = 256 << 20

// telemetry is what was read.
type telemetry struct {
	spans   []*tracepb.ResourceSpans
	metrics []*metricspb.ResourceMetrics
	logs    []*logspb.ResourceLogs
}

// readFiles reads all files, then judges: the spans of a trace may stand in any
// of them. A line that cannot be read is said and passed over.
func readFiles(files []string, stdin io.Reader, r *report, stderr io.Writer) error {
	if len(files) == 0 {
		files = []string{"-"}
	}
	var all telemetry
	bad := 0
	for _, name := range files {
		n, err := readFile(name, stdin, &all, stderr)
		if err != nil {
			return &usageError{err}
		}
		bad += n
	}
	r.spans(all.spans)
	r.metrics(all.metrics)
	r.logs(all.logs)
	if bad > 0 {
		return fmt.Errorf("%s could not be read", counted(bad, "line"))
	}
	return nil
}

func readFile(name string, stdin io.Reader, all *telemetry, stderr io.Writer) (bad int, err error) {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return 0, err
		}
		defer f.Close()
		in = f
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	number := 0
	for lines.Scan() {
		number++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := all.add(line); err != nil {
			bad++
			fmt.Fprintf(stderr, "check: %s:%d: %v\n", name, number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return bad, fmt.Errorf("%s: line %d: %w", name, number+1, err)
	}
	return bad, nil
}

var errNoOTLP = errors.New("no OTLP: want a JSON object with resourceSpans, resourceMetrics or resourceLogs")

// add takes one export request in.
func (all *telemetry) add(line []byte) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber() // 64-bit integers stay what they are
	var request map[string]any
	if err := d.Decode(&request); err != nil {
		return fmt.Errorf("%w: %w", errNoOTLP, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("%w; there is more after the object", errNoOTLP)
	}
	var one telemetry
	known := false
	for _, part := range []struct {
		key string
		add func(json.RawMessage) error
	}{
		{"resourceSpans", func(b json.RawMessage) error { return unmarshal(b, &tracepb.ResourceSpans{}, &one.spans) }},
		{"resourceMetrics", func(b json.RawMessage) error { return unmarshal(b, &metricspb.ResourceMetrics{}, &one.metrics) }},
		{"resourceLogs", func(b json.RawMessage) error { return unmarshal(b, &logspb.ResourceLogs{}, &one.logs) }},
	} {
		list, ok := request[part.key].([]any)
		if !ok {
			continue
		}
		known = true
		for _, resource := range list {
			if err := toBase64(resource); err != nil {
				return err
			}
			b, err := json.Marshal(resource)
			if err != nil {
				return err
			}
			if err := part.add(b); err != nil {
				return err
			}
		}
	}
	if !known {
		return errNoOTLP
	}
	all.spans = append(all.spans, one.spans...)
	all.metrics = append(all.metrics, one.metrics...)
	all.logs = append(all.logs, one.logs...)
	return nil
}

func unmarshal[T proto.Message](b []byte, m T, all *[]T) error {
	// Fields of a newer OTLP are not judged, so they need not be known.
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(b, m); err != nil {
		return err
	}
	*all = append(*all, m)
	return nil
}

// toBase64 rewrites ids, wherever they stand. OTLP writes them in hexadecimal,
// where the JSON form of protobuf, which is OTLP's in all other ways, has
// base64. Attributes are lists of keys and values, so no key of an attribute is
// taken for one of these.
func toBase64(v any) error {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if err := toBase64(e); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, e := range v {
			switch key {
			case "traceId", "spanId", "parentSpanId", "trace_id", "span_id", "parent_span_id":
				text, ok := e.(string)
				if !ok {
					return fmt.Errorf("%s is no text", key)
				}
				id, err := hex.DecodeString(text)
				if err != nil || len(id) != 0 && len(id) != 8 && len(id) != 16 {
					return fmt.Errorf("%s is %q, want 16 or 32 hexadecimal digits", key, text)
				}
				v[key] = base64.StdEncoding.EncodeToString(id)
			default:
				if err := toBase64(e); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
