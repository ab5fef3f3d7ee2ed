package genaihttp

import (
	"bytes"
	"crypto/sha256"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/genai"
)

// TestASlowReader holds the handler up as it does without us: nothing is put
// aside for it, and what it reads in the end is all of it, or it leaves.
func TestASlowReader(t *testing.T) {
	piece := strings.Repeat(chunk("word "), 500)
	const pieces = 150 // more than the sockets of both sides hold
	for _, leaves := range []bool{false, true} {
		b := newBed(t)
		written := make(chan int, pieces)
		h := NewHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range pieces {
				if _, err := io.WriteString(w, piece); err != nil {
					return
				}
				written <- i
			}
			_, _ = io.WriteString(w, finish+endMark)
		}), b.inst)
		resp, err := plain(t).Post(serve(t, h).URL+chatPath, "application/json", bytes.NewReader(chatStream))
		if err != nil {
			t.Fatal(err)
		}
		<-written
		var h2 heap
		h2.look()
		want := genai.OutcomeSuccess
		if leaves {
			want = genai.OutcomeDisconnected
		} else {
			sum, n := sha256.New(), 0
			for buf := make([]byte, 100<<10); ; n++ {
				m, err := resp.Body.Read(buf)
				sum.Write(buf[:m])
				if err != nil {
					break
				}
			}
			all := sha256.Sum256([]byte(strings.Repeat(piece, pieces) + finish + endMark))
			if !bytes.Equal(sum.Sum(nil), all[:]) {
				t.Error("what passed was changed")
			}
		}
		resp.Body.Close()
		if f := b.end(); f.Outcome != want {
			t.Errorf("outcome %v, want %v", f.Outcome, want)
		}
		h2.look()
		if grown := h2.most - h2.before; grown > boundWithoutText {
			t.Errorf("%d KiB are held for a slow reader", grown>>10)
		}
	}
}
