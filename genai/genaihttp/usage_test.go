package genaihttp

import (
	"bytes"
	"strings"
	"testing"
)

// TestTheFilterHoldsLittle, however much is written at once, and knows an event
// that is too long for it to its end.
func TestTheFilterHoldsLittle(t *testing.T) {
	f := &usageFilter{}
	long := bytes.Repeat([]byte("x"), 10<<20)
	if got := f.pass(long); !bytes.Equal(got, long) || cap(f.held) > 2*maxHeld {
		t.Errorf("%d bytes pass, %d are held", len(got), cap(f.held))
	}
	var got bytes.Buffer
	in := "data: " + strings.Repeat("x", maxHeld) + "|\n|" + usage + "|" + usage
	f = &usageFilter{}
	for p := range strings.SplitSeq(in, "|") {
		got.Write(f.pass([]byte(p)))
	}
	// The first usage belongs to the long event, the second stands alone.
	if want := strings.ReplaceAll(strings.TrimSuffix(in, usage), "|", ""); got.String() != want {
		t.Errorf("%d bytes pass, want %d", got.Len(), len(want))
	}
}
