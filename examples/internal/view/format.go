package view

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Duration writes a duration with three digits, in the unit that suits it.
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Duration(-d)
	case d == 0:
		return "0"
	case d < time.Microsecond:
		return fmt.Sprintf("%d ns", d)
	case d < 999_500*time.Nanosecond:
		return digits(float64(d)/1e3) + " µs"
	case d < 999_500*time.Microsecond:
		return digits(float64(d)/1e6) + " ms"
	case d < 100*time.Second:
		return digits(float64(d)/1e9) + " s"
	}
	return d.Round(time.Second).String()
}

func digits(v float64) string {
	switch {
	case v < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// number writes a value of a metric.
func number(v float64, asInt bool) string {
	if asInt || v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

var sparks = []rune("▁▂▃▄▅▆▇█")

// sparkline draws the course of a series in a few characters.
func sparkline(points []float64, width int) string {
	if len(points) < 2 {
		return ""
	}
	low, high := points[0], points[0]
	for _, p := range points {
		low, high = min(low, p), max(high, p)
	}
	var out strings.Builder
	n := min(width, len(points))
	for i := range n {
		p := points[(i+1)*len(points)/n-1]
		level := 0
		if high > low {
			level = int((p - low) / (high - low) * float64(len(sparks)-1))
		}
		out.WriteRune(sparks[level])
	}
	return out.String()
}

// width counts what a text takes on a terminal, as far as one rune is one column.
func width(s string) int { return utf8.RuneCountInString(s) }

// cut shortens a text in its middle, where names differ the least.
func cut(s string, columns int) string {
	r := []rune(s)
	if len(r) <= columns {
		return s
	}
	if columns < 4 {
		return string(r[:max(columns, 0)])
	}
	tail := (columns - 1) / 3
	return string(r[:columns-1-tail]) + "…" + string(r[len(r)-tail:])
}

// cutEnd shortens a text at its end.
func cutEnd(s string, columns int) string {
	r := []rune(s)
	if len(r) <= columns {
		return s
	}
	return string(r[:max(columns-1, 0)]) + "…"
}

func pad(s string, columns int) string {
	return s + strings.Repeat(" ", max(columns-width(s), 0))
}

func padLeft(s string, columns int) string {
	return strings.Repeat(" ", max(columns-width(s), 0)) + s
}

// wrap puts words into lines of some columns.
func wrap(words []string, columns int) []string {
	var out []string
	line := ""
	for _, w := range words {
		if line != "" && width(line)+1+width(w) > columns {
			out = append(out, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += w
	}
	if line != "" || len(out) == 0 {
		out = append(out, line)
	}
	return out
}

// oneLine makes control characters visible: what arrived may hold anything, and
// a terminal must not act on it.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '·'
		}
		return r
	}, s)
}
