package main

import (
	"fmt"
	"io"
	"strings"
)

// row is a line of a table.
type row struct {
	work string
	// line gives the rest.
	line func(figures) cells
}

type cells struct {
	baseline, ours, result, budget string
	within                         bool
}

func (l cells) verdict() string {
	switch {
	case l.budget == "":
		return "-"
	case l.within:
		return "ok"
	}
	return "over"
}

// ratioRow compares with a baseline: at most so many times its time, and, if
// allocs is not 0, its allocations. Without a limit for the time the row states
// what is so.
func ratioRow(work, baseline, ours string, time, allocs float64) row {
	return row{work, func(f figures) cells {
		b, o := f.of(baseline), f.of(ours)
		l := cells{baseline: b.String(), ours: o.String(), result: fmt.Sprintf("%.2f x", o.ns/b.ns)}
		if time > 0 {
			l.budget, l.within = fmt.Sprintf("<= %.2f x", time), o.ns <= time*b.ns
		}
		if allocs > 0 {
			l.result += fmt.Sprintf(", %.2f x allocs", o.allocs/b.allocs)
			l.budget += fmt.Sprintf(", <= %.1f x allocs", allocs)
			l.within = l.within && o.allocs <= allocs*b.allocs
		}
		return l
	}}
}

// reportRow compares the two subjects of a group whose work must not allocate.
func reportRow(work, group string) row {
	return row{work, func(f figures) cells {
		b, o := f.of(group+"/raw"), f.of(group+"/ours")
		return cells{b.String(), o.String(), fmt.Sprintf("%.2f x", o.ns/b.ns), "<= 0.50 x, 0 allocs", o.ns <= b.ns/2 && o.allocs == 0}
	}}
}

// callRow is about a call that does nothing.
func callRow(work, ours string, ns float64) row {
	return row{work, func(f figures) cells {
		o := f.of(ours)
		return cells{"", o.String(), fmt.Sprintf("%.1f ns", o.ns), fmt.Sprintf("< %.0f ns, 0 allocs", ns), o.ns < ns && o.allocs == 0}
	}}
}

func documentRow(work string) row {
	return row{work, func(f figures) cells {
		bare, peer, ours := f.of("document/bare"), f.of("document/otelhttp").minus(f.of("document/bare")), f.of("document/ours").minus(f.of("document/bare"))
		return cells{
			"bare " + bare.String() + "; otelhttp +" + peer.String(), "+" + ours.String(), fmt.Sprintf("%.2f x otelhttp's", ours.ns/peer.ns),
			"<= 1.00 x otelhttp's, <= 60 allocs", ours.ns <= peer.ns && ours.allocs <= 60,
		}
	}}
}

// streamRow is about what a chunk costs over otelhttp, in microseconds.
func streamRow(work, subject string, most, allocs float64) row {
	return row{work, func(f figures) cells {
		bare := f.of("stream/bare")
		peer, ours := f.of("stream/otelhttp").minus(bare), f.of(subject).minus(bare)
		over := (ours.ns - peer.ns) / chunks / 1e3
		l := cells{
			"bare " + bare.String() + "; otelhttp +" + peer.String(), "+" + ours.String(), fmt.Sprintf("%.2f us a chunk, %+.2f over otelhttp", ours.ns/chunks/1e3, over),
			fmt.Sprintf("<= %.2f us a chunk over otelhttp", most), over <= most,
		}
		if allocs > 0 {
			l.budget += fmt.Sprintf(", <= %.0f allocs", allocs)
			l.within = l.within && ours.allocs <= allocs
		}
		return l
	}}
}

func (f figure) minus(o figure) figure {
	return figure{f.ns - o.ns, f.allocs - o.allocs, f.bytes - o.bytes}
}

func (f figure) String() string {
	return fmt.Sprintf("%s, %.0f allocs", duration(f.ns), f.allocs)
}

func duration(ns float64) string {
	switch {
	case ns < 100:
		return fmt.Sprintf("%.1f ns", ns)
	case ns < 10e3:
		return fmt.Sprintf("%.0f ns", ns)
	case ns < 10e6:
		return fmt.Sprintf("%.1f us", ns/1e3)
	}
	return fmt.Sprintf("%.1f ms", ns/1e6)
}

func size(bytes float64) string {
	if bytes < 1024 {
		return fmt.Sprintf("%.0f B", bytes)
	}
	return fmt.Sprintf("%.1f KB", bytes/1024)
}

var header = []string{"work", "baseline", "ours", "result", "budget", "verdict"}

// table is a part of the report.
type table struct {
	title string
	note  string
	rows  []row
}

func (t *table) cells(f figures) [][]string {
	out := [][]string{header}
	for _, r := range t.rows {
		l := r.line(f)
		out = append(out, []string{r.work, l.baseline, l.ours, l.result, l.budget, l.verdict()})
	}
	return out
}

// print writes the table for a terminal.
func (t *table) print(w io.Writer, f figures) {
	all := t.cells(f)
	widths := make([]int, len(header))
	for _, c := range all {
		for i := range c {
			widths[i] = max(widths[i], len(c[i]))
		}
	}
	fmt.Fprintf(w, "\n%s\n", t.title)
	for _, c := range all {
		for i := range c {
			fmt.Fprintf(w, "%-*s  ", widths[i], c[i])
		}
		fmt.Fprintln(w)
	}
}

// markdown writes the table for the documentation.
func (t *table) markdown(w io.Writer, f figures) {
	fmt.Fprintf(w, "\n## %s\n\n", t.title)
	if t.note != "" {
		fmt.Fprintf(w, "%s\n\n", t.note)
	}
	for i, c := range t.cells(f) {
		fmt.Fprintf(w, "| %s |\n", strings.Join(c, " | "))
		if i == 0 {
			fmt.Fprintln(w, strings.Repeat("|---", len(header))+"|")
		}
	}
}
