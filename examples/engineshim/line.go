package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/infertel/infertel-go/internal/boundedtext"
)

// line is one event of an engine. Its methods read the fields that an event may
// have, strictly: a field that is absent or null is not set, one of another type
// is remembered as the line's error, so that a handler reads all it needs and
// then asks for err once, before it acts.
type line struct {
	at      time.Time
	engine  string
	event   string
	request string // "" where the event concerns none
	origin  string // the connection that it came from

	fields map[string]json.RawMessage
	errs   []error
}

// parseLine reads a line. It returns nil for an empty one.
func parseLine(text []byte) (*line, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return nil, nil
	}
	l := &line{}
	if err := json.Unmarshal(text, &l.fields); err != nil || l.fields == nil {
		var syntax *json.SyntaxError
		if !errors.As(err, &syntax) {
			return nil, fmt.Errorf("line is %s, want a JSON object", kind(text))
		}
		// The text itself is not told: any of it may be what a user or the model wrote.
		if isNotFinite(text, syntax.Offset) {
			return nil, fmt.Errorf("not a JSON object: NaN and Infinity at byte %d are not JSON; json.dumps writes them unless it has allow_nan=False", syntax.Offset)
		}
		return nil, fmt.Errorf("not a JSON object: %w, at byte %d", err, syntax.Offset)
	}
	l.at = l.time("ts")
	l.engine = l.text("engine")
	l.event = l.text("event")
	l.request = l.text("request")
	if l.require("ts"); l.has("ts") && l.at.IsZero() && len(l.errs) == 0 {
		l.wrong("ts", "more than 0 Unix nanoseconds")
	}
	l.require("engine")
	l.require("event")
	if l.has("request") && l.request == "" && len(l.errs) == 0 {
		l.wrong("request", "an id that is not empty")
	}
	return l, l.err()
}

// isNotFinite reports whether the JSON decoder stopped at a number that JSON does
// not have, as Python writes it: NaN, Infinity or -Infinity. offset counts the
// bytes up to the one that it stopped at.
func isNotFinite(text []byte, offset int64) bool {
	if offset < 1 || offset > int64(len(text)) {
		return false
	}
	rest := text[offset-1:]
	return bytes.HasPrefix(rest, []byte("NaN")) || bytes.HasPrefix(rest, []byte("Infinity"))
}

// content are the fields that hold, or can quote, what a user or the model wrote.
var content = map[string]bool{"token_ids": true, "token_texts": true, "message": true, "reason": true, "finish_reason": true, "finish_reasons": true}

// err returns everything that was wrong with the fields read so far.
func (l *line) err() error { return errors.Join(l.errs...) }

func (l *line) wrong(name, want string) {
	is := kind(l.fields[name])
	if !content[name] && is != "an object" {
		is = shortened(l.fields[name])
	}
	l.errs = append(l.errs, fmt.Errorf("field %q is %s, want %s", name, is, want))
}

// unknownEvent is the error for an event that the engine does not have.
func (l *line) unknownEvent() error {
	return fmt.Errorf("field %q is %s, which %s does not have", "event", shortened(l.fields["event"]), l.engine)
}

// has reports whether the field is there and not null.
func (l *line) has(name string) bool {
	raw, ok := l.fields[name]
	return ok && !bytes.Equal(raw, []byte("null"))
}

// require makes an absent field an error.
func (l *line) require(name string) {
	if !l.has(name) {
		l.errs = append(l.errs, fmt.Errorf("field %q is missing", name))
	}
}

// text returns a string, "" if it is not set.
func (l *line) text(name string) string { return value[string](l, name, "a string") }

// flag returns a boolean, false if it is not set.
func (l *line) flag(name string) bool { return value[bool](l, name, "true or false") }

// int returns an integer, nil if it is not set.
func (l *line) int(name string) *int { return optional[int](l, name, "an integer") }

// optionalCount returns an integer of 0 or more, nil if it is not set.
func (l *line) optionalCount(name string) *int {
	n := l.int(name)
	if n != nil && *n < 0 {
		l.wrong(name, "0 or more")
		return nil
	}
	return n
}

// count returns an integer of 0 or more, 0 if it is not set.
func (l *line) count(name string) int {
	if n := l.optionalCount(name); n != nil {
		return *n
	}
	return 0
}

// float returns a number, nil if it is not set.
func (l *line) float(name string) *float64 { return optional[float64](l, name, "a number") }

// ratio returns a number from 0 to 1, nil if it is not set. One that is outside by
// no more than floating point makes of a sum of shares is taken for the bound.
func (l *line) ratio(name string) *float64 {
	const noise = 1e-9
	r := l.float(name)
	if r == nil {
		return nil
	}
	if *r < -noise || *r > 1+noise {
		l.wrong(name, "a number from 0 to 1")
		return nil
	}
	return new(min(max(*r, 0), 1))
}

// time returns a time given as Unix nanoseconds, the zero time if it is not set
// or 0, with which engines stand in for a point that was not taken.
func (l *line) time(name string) time.Time {
	ns := optional[int64](l, name, "an integer of Unix nanoseconds")
	if ns == nil || *ns == 0 {
		return time.Time{}
	}
	if *ns < 0 {
		l.wrong(name, "0 or more Unix nanoseconds")
		return time.Time{}
	}
	return time.Unix(0, *ns)
}

// duration returns a duration given as nanoseconds, nil if it is not set.
func (l *line) duration(name string) *time.Duration {
	d := optional[time.Duration](l, name, "an integer of nanoseconds")
	if d != nil && *d < 0 {
		l.wrong(name, "0 or more nanoseconds")
		return nil
	}
	return d
}

// ints, texts and floats return lists, nil if they are not set.
func (l *line) ints(name string) []int       { return value[[]int](l, name, "a list of integers") }
func (l *line) texts(name string) []string   { return value[[]string](l, name, "a list of strings") }
func (l *line) floats(name string) []float64 { return value[[]float64](l, name, "a list of numbers") }

func value[T any](l *line, name, want string) T {
	if v := optional[T](l, name, want); v != nil {
		return *v
	}
	var zero T
	return zero
}

func optional[T any](l *line, name, want string) *T {
	if !l.has(name) {
		return nil
	}
	var v T
	if err := json.Unmarshal(l.fields[name], &v); err != nil {
		l.wrong(name, want)
		return nil
	}
	return &v
}

// shortened returns a piece of input fit for a message.
func shortened(text []byte) string {
	const most = 60
	// What is JSON has its control characters escaped already.
	if s := string(text); json.Valid(text) && !strings.ContainsAny(s, "\n\r") {
		if len(s) <= most {
			return s
		}
		return boundedtext.Cut(s, most) + "..."
	}
	if len(text) <= most {
		return strconv.QuoteToASCII(string(text))
	}
	return strconv.QuoteToASCII(string(text[:most])) + "..."
}

// kind says what a JSON value is, for one that is not to be told.
func kind(value []byte) string {
	switch value = bytes.TrimSpace(value); {
	case len(value) == 0:
		return "nothing"
	case value[0] == '[':
		return "a list"
	case value[0] == '{':
		return "an object"
	case value[0] == '"':
		return "a string"
	case value[0] == 'n':
		return "null"
	case value[0] == 't', value[0] == 'f':
		return "true or false"
	}
	return "a number"
}
