package main

import (
	"fmt"
	"strings"
)

// emitNames writes the names of spans, stages, events and threads as constants.
func emitNames(r *registry) *source {
	src := newSource()
	src.p("\n// Names of spans. Those that hold a model, an identifier or a rank are built where they are used.")
	src.p("const (")
	var names []string
	types := map[string][]string{}
	briefs := map[string]string{}
	for _, s := range r.spans {
		for _, n := range s.Annotations.Infertel.Names {
			if strings.ContainsAny(n, "{[") {
				continue
			}
			if types[n] == nil {
				names = append(names, n)
			}
			types[n] = append(types[n], s.id)
			briefs[n] = sentence(s.Brief)
		}
	}
	for _, n := range names {
		brief := briefs[n]
		if len(types[n]) > 1 {
			brief = "the name of " + strings.Join(types[n], " and ") + "."
		}
		src.comment(fmt.Sprintf("Span%s: %s", goName(n), brief))
		src.p("Span%s = %q", goName(n), n)
	}
	src.p(")\n\n// Names of the stage spans of SGLang.\nconst (")
	for _, s := range r.stages {
		n := s.Annotations.Infertel.Stage
		src.comment(fmt.Sprintf("Stage%s: %s", goName(n), sentence(s.Brief)))
		src.p("Stage%s = %q", goName(n), n)
	}
	src.p(")\n\n// Names of span events and log events.\nconst (")
	for _, e := range r.events {
		src.comment(fmt.Sprintf("%s: %s", e.goName(), sentence(e.Brief)))
		src.p("%s = %q", e.goName(), e.Name)
	}
	src.p(")\n\n// Labels of SGLang threads, and what precedes them under prefill-decode disaggregation.\nconst (")
	for _, l := range r.labels {
		// A label with a placeholder is a prefix of the real one.
		value, _, open := strings.Cut(fmt.Sprint(l.Value), "{")
		name := "ThreadLabel" + goName(l.ID)
		if open {
			name += "Prefix"
		}
		src.comment(fmt.Sprintf("%s: %s", name, sentence(l.Brief)))
		src.p("%s = %q", name, value)
	}
	for _, l := range r.prefixes {
		src.comment(fmt.Sprintf("ThreadLabelPrefix%s: %s", goName(l.ID), sentence(l.Brief)))
		src.p("ThreadLabelPrefix%s = %q", goName(l.ID), l.Value)
	}
	src.p(")\n\n// Trace level of SGLang, which limits its stages and events.\nconst (")
	l := r.level
	src.p("// SGLangTraceLevelEnv is the environment variable that holds the level.\nSGLangTraceLevelEnv = %q", l.Env)
	src.p("// SGLangTraceLevelDefault is the level where none is given.\nSGLangTraceLevelDefault = %d", l.Default)
	src.p("// SGLangTraceLevelOff is the level without any native span.\nSGLangTraceLevelOff = %d", l.Off)
	src.p("// SGLangTraceLevelPath is the path of the request that sets the level at run time.\nSGLangTraceLevelPath = %q", l.Path)
	src.p("// SGLangTraceLevelParameter is its query parameter.\nSGLangTraceLevelParameter = %q", l.Parameter)
	src.p(")")
	return src
}

func (e event) goName() string {
	if n := e.Annotations.Infertel.Go; n != "" {
		return "Event" + n
	}
	return "Event" + goName(e.Name)
}
