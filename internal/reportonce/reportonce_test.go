package reportonce_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/infertel/infertel-go/internal/reportonce"
	"github.com/infertel/infertel-go/internal/sdktest"
)

func TestReportsEachKindOnce(t *testing.T) {
	handled := sdktest.HandleErrors(t)
	var r reportonce.Reporter
	var wg sync.WaitGroup
	for k := range reportonce.Kind(64) {
		for range 4 {
			wg.Go(func() { r.Report(k, func() error { return errors.New("misuse") }) })
		}
	}
	wg.Wait()
	if got := len(handled.Take()); got != 64 {
		t.Errorf("%d reports of 64 kinds", got)
	}
	var none *reportonce.Reporter
	none.Report(0, func() error { t.Error("a nil reporter described an error"); return nil })
}

func TestRepeatedReportAllocatesNothing(t *testing.T) {
	sdktest.HandleErrors(t)
	var r reportonce.Reporter
	if n := testing.AllocsPerRun(100, func() {
		r.Report(3, func() error { return errors.New("misuse") })
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
