package jsonstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// everything watches the members a, b and c and all elements, at any depth
// that can be watched.
var everything = func() *Node {
	n := &Node{ID: 1}
	n.Elem = n
	n.Fields = []Field{{"a", n}, {"b", n}, {"c", n}}
	return n.Index()
}()

// firstBytes are those with which a value of a kind begins.
var firstBytes = [...]string{String: `"`, Number: "-0123456789", True: "t", False: "f", Null: "n", Object: "{", Array: "["}

// log is a handler that writes down what it is told.
type log struct {
	events []string
	text   []byte
	reader *Reader
	piece  []byte // that is being written
}

func (l *log) Open(id int, k Kind) {
	l.text = l.text[:0]
	if at := l.reader.Offset() - 1; at < 0 || at >= len(l.piece) || !strings.ContainsRune(firstBytes[k], rune(l.piece[at])) {
		l.events = append(l.events, fmt.Sprintf("no %d begins at %d of %q", k, at, l.piece))
	}
	if k == Object || k == Array {
		l.events = append(l.events, fmt.Sprintf("open %d %d", id, k))
	}
}
func (l *log) Text(_ int, p []byte) { l.text = append(l.text, p...) }
func (l *log) Close(id int, k Kind, raw []byte) {
	switch k {
	case String:
		l.events = append(l.events, fmt.Sprintf("%d string %q", id, l.text))
	case Number:
		l.events = append(l.events, fmt.Sprintf("%d number %s", id, raw))
	default:
		l.events = append(l.events, fmt.Sprintf("close %d %d", id, k))
	}
}

func read(t testing.TB, root *Node, pieces ...[]byte) (events []string, whole bool) {
	t.Helper()
	var r Reader
	l := log{reader: &r}
	r.Reset(root, &l)
	for _, p := range pieces {
		q := bytes.Clone(p)
		l.piece = q
		r.Write(q)
		for i := range q {
			q[i] = '#' // what was handed in must not be kept
		}
	}
	whole = r.Finish()
	return l.events, whole
}

// reference writes the same log from encoding/json's tokens.
func reference(doc []byte) ([]string, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var events []string
	var value func(depth int, watched bool) error
	value = func(depth int, watched bool) error {
		tok, err := d.Token()
		if err != nil {
			return err
		}
		say := func(format string, args ...any) {
			if watched {
				events = append(events, fmt.Sprintf(format, args...))
			}
		}
		switch v := tok.(type) {
		case json.Delim:
			k := Object
			if v == '[' {
				k = Array
			}
			say("open 1 %d", k)
			inside := watched && depth+1 < maxWatch
			for d.More() {
				w := inside
				if k == Object {
					name, err := d.Token()
					if err != nil {
						return err
					}
					w = inside && slices.Contains([]string{"a", "b", "c"}, name.(string))
				}
				if err := value(depth+1, w); err != nil {
					return err
				}
			}
			if _, err := d.Token(); err != nil {
				return err
			}
			say("close 1 %d", k)
		case string:
			say("1 string %q", v)
		case json.Number:
			if len(v) > maxNumber {
				v = ""
			}
			say("1 number %s", string(v))
		case bool:
			k := False
			if v {
				k = True
			}
			say("close 1 %d", k)
		case nil:
			say("close 1 %d", Null)
		}
		return nil
	}
	if err := value(0, true); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more than one value")
	}
	return events, nil
}

var documents = []string{
	`{"a":1}`, `{"a":"x","b":["y",{"c":null}],"d":{"a":[1,2]}}`, `[]`, `{}`, `[[[]]]`, ` { "a" : [ 1 , 2 ] } `,
	`"plain"`, `12`, `-0.5e+10`, `true`, `null`, `"\u00e9\n\"\\"`, `"\ud83c\udf0d"`, `"\ud83c"`, `"\udf0d\ud83cx"`, `"\ud83c\ud83c\udf0d"`,
	`{"\u0061":7}`, `{"a":"好🌍"}`, `{"` + strings.Repeat("k", 100) + `":1,"a":2}`, `{"a":` + strings.Repeat("9", 60) + `}`,
	strings.Repeat(`{"a":`, 20) + `5` + strings.Repeat(`}`, 20), strings.Repeat("[", 500) + strings.Repeat("]", 500),
	`{"x":"skip \" me","y":[{"a":1}],"a":"ok"}`, `{"a":1,"a":2}`, `{"":1,"a":{"":2}}`,
	`{"a": 1, "b": [1.5, -0, 1e5, 2E-3], "d": {"a": true, "e": {"f": "\n\u00e9"}}, "c": {}}`, `{"a":{"b":{"c":0}},"a":[{"b":""}]}`,
	`{"d":"\\","a":"` + strings.Repeat("n", 40) + `","b":false}`, `{"a":123.5e-7,"d":-10,"b":` + strings.Repeat("8", 41) + `}`,
	// not JSON
	``, ` `, `{`, `[1,]`, `{"a":1,}`, `{"a"}`, `{"a":}`, `{a:1}`, `nul`, `nullx`, `tru e`, `01`, `1.`, `.5`, `-`, `1e`, `1e+`, `"open`, `"\x"`, `"\u12g4"`,
	`[1 2]`, `{"a":1 "b":2}`, `{"a":1]`, `[1}`, `1 2`, `{}{}`, `: PROCESSING`, `[DONE]`, "\"a\nb\"", `{"x":[1,}`, `{"x":{"y" 1}}`, `{,}`, `[,1]`, `{"d":01}`, `{"d":1.}`, `{"d":-}`, `{"d":1e,"a":1}`, `{"d":"\q"}`, `{"a":nulL}`, `{"d":1}}`, `{"d":{"a":1]}`, `{"a":1,,"b":2}`,
}

func TestReaderAgreesWithEncodingJSON(t *testing.T) {
	for _, doc := range documents {
		want, err := reference([]byte(doc))
		got, whole := read(t, everything, []byte(doc))
		if whole != (err == nil) {
			t.Errorf("%q: whole = %v, encoding/json says %v", doc, whole, err)
		}
		if err == nil && !slices.Equal(got, want) {
			t.Errorf("%q:\n got %q\nwant %q", doc, got, want)
		}
	}
}

func TestCutsChangeNothing(t *testing.T) {
	for _, doc := range documents {
		b := []byte(doc)
		want, wantWhole := read(t, everything, b)
		for i := range b {
			if got, whole := read(t, everything, b[:i], b[i:]); whole != wantWhole || !slices.Equal(got, want) {
				t.Fatalf("%q cut at %d:\n got %q %v\nwant %q %v", doc, i, got, whole, want, wantWhole)
			}
		}
		single := make([][]byte, len(b))
		for i := range b {
			single[i] = b[i : i+1]
		}
		if got, whole := read(t, everything, single...); whole != wantWhole || !slices.Equal(got, want) {
			t.Fatalf("%q byte by byte:\n got %q %v\nwant %q %v", doc, got, whole, want, wantWhole)
		}
	}
}

func TestUnwatchedPlacesAreStillChecked(t *testing.T) {
	root := &Node{Fields: []Field{{"a", &Node{ID: 7}}}}
	got, whole := read(t, root, []byte(`{"skip":{"a":[1,{"a":"no"}]},"a":"yes"}`))
	if want := []string{`7 string "yes"`}; !whole || !slices.Equal(got, want) {
		t.Errorf("got %q %v, want %q", got, whole, want)
	}
	if _, whole := read(t, root, []byte(`{"skip":{"x":tru},"a":"yes"}`)); whole {
		t.Error("a broken value in an unwatched place was taken for JSON")
	}
}

func TestPlacesAreToldApart(t *testing.T) {
	root := &Node{Fields: []Field{
		{"a", &Node{Fields: []Field{{"a", &Node{ID: 1}}, {"c", &Node{Elem: &Node{Fields: []Field{{"d", &Node{ID: 2}}}}}}}}},
		{"b", &Node{ID: 3}},
	}}
	doc := []byte(`{"a":{"a":1,"b":2,"c":[{"d":3},{"a":4,"d":5,"x":{"d":6}}],"x":{"a":7}},"b":8,"d":9,"c":[{"d":10}]}`)
	want := []string{"1 number 1", "2 number 3", "2 number 5", "3 number 8"}
	for i := range doc {
		if got, whole := read(t, root, doc[:i], doc[i:]); !whole || !slices.Equal(got, want) {
			t.Errorf("cut at %d: got %q %v, want %q", i, got, whole, want)
		}
	}
}

func TestDepthIsBounded(t *testing.T) {
	deep := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if _, whole := read(t, everything, deep(maxDepth)); !whole {
		t.Errorf("depth %d refused", maxDepth)
	}
	if _, whole := read(t, everything, deep(maxDepth+1)); whole {
		t.Errorf("depth %d accepted", maxDepth+1)
	}
}

func TestReaderAllocatesNothing(t *testing.T) {
	doc := []byte(`{"a":"text","skip":{"x":[1,2,{"y":null}]},"b":[true,1.5,"\u00e9"]}`)
	var r Reader
	var h quiet
	if n := testing.AllocsPerRun(100, func() {
		r.Reset(everything, &h)
		r.Write(doc[:20])
		r.Write(doc[20:])
	}); n != 0 {
		t.Errorf("%v allocations per document, want 0", n)
	}
}

type quiet struct{}

func (*quiet) Open(int, Kind)          {}
func (*quiet) Text(int, []byte)        {}
func (*quiet) Close(int, Kind, []byte) {}

// TestPlainLength compares with the plain way, for every byte at every place.
func TestPlainLength(t *testing.T) {
	for length := range 20 {
		for at := range length {
			for c := range 256 {
				p := make([]byte, length)
				for i := range p {
					p[i] = "a\xff\x80~!#[] \x7f"[i%10]
				}
				p[at] = byte(c)
				want := length
				if c < ' ' || c == '"' || c == '\\' {
					want = at
				}
				if got := plainLength(p); got != want {
					t.Fatalf("%q: %d, want %d", p, got, want)
				}
			}
		}
	}
}
