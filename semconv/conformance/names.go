package conformance

import (
	"fmt"
	"strings"

	"github.com/infertel/infertel-go/semconv"
)

// checkName holds the name against the documented form, filled in with the
// span's own attributes. What an absent or mistyped attribute would fill in is
// not judged: that is a violation already.
func (c *checker) checkName(s *span) {
	want := ""
	switch s.typ.ID {
	case idVLLMEntry, idSGLangEntry:
		want = entryName(s)
	case idRequest:
		want = c.requestName(s)
	case idThread:
		want = c.nameOfThread(s)
	case idStage:
		return // the name is what makes it one
	default:
		want = s.typ.Names[0]
	}
	if want != "" && s.name != want {
		c.report(s, RuleSpanName, "", quoted(s.name), quoted(want))
	}
}

func entryName(s *span) string {
	op, ok := s.text(semconv.GenAIOperationNameKey)
	if !ok {
		return ""
	}
	model, ok := s.text(semconv.GenAIRequestModelKey)
	if !ok && strings.HasPrefix(s.name, op+" ") {
		return "" // it has a model, which is missing among the attributes
	}
	if model == "" {
		return op
	}
	return op + " " + model
}

func (c *checker) requestName(s *span) string {
	rid, ok := s.text(semconv.RIDKey)
	if !ok {
		return ""
	}
	name := "Req"
	if rid != "" {
		name += " " + firstCharacters(rid, 8)
	}
	role, known := requestRole(s.name)
	if c.nativeNames || known && role != "" {
		name = role + " " + name
	}
	return name
}

func (c *checker) nameOfThread(s *span) string {
	label, ok1 := s.text(semconv.ThreadLabelKey)
	host, ok2 := s.text(semconv.HostIDKey)
	pid, ok3 := s.integer(semconv.PIDKey)
	if !ok1 || !ok2 || !ok3 {
		return ""
	}
	var b strings.Builder
	b.WriteString(label)
	for _, r := range ranks() {
		if n, ok := s.integer(r.key); ok {
			fmt.Fprintf(&b, " [%s %d]", r.name, n)
			if c.nativeNames {
				b.WriteByte(' ')
			}
		} else if s.has(r.key) {
			return ""
		}
	}
	if !c.nativeNames {
		b.WriteByte(' ')
	}
	fmt.Fprintf(&b, "(host:%s | pid:%d)", firstCharacters(host, 8), pid)
	return b.String()
}

// firstCharacters returns the first n characters of s.
func firstCharacters(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
