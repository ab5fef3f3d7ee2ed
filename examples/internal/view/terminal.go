package view

import (
	"io"
	"os"
	"strconv"
)

// IsTerminal reports whether people see what is written to w as it comes.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

const (
	usualWidth = 80
	leastWidth = 60
	mostWidth  = 160
)

// columns is how wide a terminal is, as far as the shell tells.
func columns() int {
	n, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil {
		return usualWidth
	}
	return min(max(n, leastWidth), mostWidth)
}

// style is how a piece of text looks on a terminal with colors.
type style string

const (
	bold   style = "1"
	faint  style = "2"
	red    style = "31;1"
	yellow style = "33"
	cyan   style = "36"
	green  style = "32"
)

// paint returns s in a style, or as it is where there are no colors.
func (p *Printer) paint(st style, s string) string {
	if !p.color || s == "" {
		return s
	}
	return "\x1b[" + string(st) + "m" + s + "\x1b[0m"
}
