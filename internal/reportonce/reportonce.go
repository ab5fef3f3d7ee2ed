// Package reportonce reports misuse of an object once for each kind of it, so
// that a mistake in a hot path is heard of without filling a log.
package reportonce

import (
	"sync/atomic"

	"go.opentelemetry.io/otel"
)

// Kind is a kind of misuse, from 0 to 63.
type Kind uint8

// Reporter belongs to the object whose misuse it reports. The zero Reporter is
// ready; a nil one reports nothing. It is safe for concurrent use.
type Reporter struct{ seen atomic.Uint64 }

// Report hands the error that describe makes to [otel.Handle], the first time
// that it is called for a kind. Later calls do nothing and do not call describe.
func (r *Reporter) Report(k Kind, describe func() error) {
	if r.first(k) {
		otel.Handle(describe())
	}
}

func (r *Reporter) first(k Kind) bool {
	if r == nil {
		return false
	}
	bit := uint64(1) << (k & 63)
	// The load keeps the repeated case free of writes to a shared cache line.
	return r.seen.Load()&bit == 0 && r.seen.Or(bit)&bit == 0
}
