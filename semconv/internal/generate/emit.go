package main

import (
	"bytes"
	"fmt"
	"go/format"
	"strconv"
	"strings"
)

const header = "// Code generated from semconv/registry. DO NOT EDIT.\n\npackage semconv\n"

// source collects the text of one Go file.
type source struct {
	bytes.Buffer
}

func newSource(imports ...string) *source {
	s := &source{}
	s.WriteString(header)
	if len(imports) > 0 {
		s.p("\nimport (")
		for _, i := range imports {
			if i == "" {
				s.p("")
				continue
			}
			s.p("%q", i)
		}
		s.p(")")
	}
	return s
}

// p writes one line.
func (s *source) p(format string, args ...any) {
	fmt.Fprintf(&s.Buffer, format+"\n", args...)
}

// comment writes paragraphs as a doc comment. A line break within a paragraph stays.
func (s *source) comment(paragraphs ...string) {
	first := true
	for _, p := range paragraphs {
		if p == "" {
			continue
		}
		if !first {
			s.p("//")
		}
		first = false
		for _, line := range strings.Split(p, "\n") {
			for _, l := range wrap(line, 77) {
				s.p("// %s", l)
			}
		}
	}
}

// gofmt returns the file's formatted text.
func (s *source) gofmt(name string) ([]byte, error) {
	out, err := format.Source(s.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, w := range strings.Fields(text) {
		switch {
		case line == "":
			line = w
		case len(line)+1+len(w) > width:
			lines = append(lines, line)
			line = w
		default:
			line += " " + w
		}
	}
	return append(lines, line)
}

// sentence makes a brief fit after "is" or a colon.
func sentence(brief string) string {
	first, rest, _ := strings.Cut(brief, " ")
	if len(first) > 1 && strings.ToUpper(first[1:]) == first[1:] {
		return brief // an acronym
	}
	if _, keep := properNouns[strings.TrimRight(first, ".,'s")]; keep {
		return brief
	}
	return strings.TrimSpace(strings.ToLower(first[:1]) + first[1:] + " " + rest)
}

var properNouns = map[string]struct{}{"SGLang": {}, "OpenTelemetry": {}, "EngineCore": {}, "HTTP": {}}

func quoteAll(list []string) string {
	q := make([]string, len(list))
	for i, s := range list {
		q[i] = strconv.Quote(s)
	}
	return strings.Join(q, ", ")
}
