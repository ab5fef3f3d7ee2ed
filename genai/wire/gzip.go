package wire

import (
	"compress/gzip"
	"errors"
	"io"
	"iter"
)

// How much of a compressed body is looked at is bounded, since a few kilobytes can
// stand for gigabytes, and so is the work that each byte of it can make: text of
// clients and engines becomes 5 to 30 times as short, zeros a thousand times.
const (
	maxInflated = 64 << 20
	maxRatio    = 100
	anyRatio    = 8 << 20 // up to here the ratio does not matter
)

// inflater decodes gzip that is pushed in pieces. The decoder of the standard
// library pulls, so it runs as a coroutine that is resumed by each piece and
// runs on the goroutine of the caller. stop ends it.
type inflater struct {
	in     []byte
	taken  int // bytes that the decoder has got
	yield  func(struct{}) bool
	resume func() (struct{}, bool)
	stop   func()
	err    error // once the body turned out not to be gzip
	over   bool
	// curtailed says that there is more than is looked at.
	curtailed bool
}

func newInflater(out func([]byte)) *inflater {
	f := &inflater{}
	f.resume, f.stop = iter.Pull(func(yield func(struct{}) bool) {
		f.yield = yield
		f.err = f.run(out)
	})
	return f
}

func (f *inflater) write(p []byte) {
	if f.over {
		return
	}
	f.in = p
	if _, more := f.resume(); !more {
		f.over = true
	}
	f.in = nil
}

func (f *inflater) run(out func([]byte)) error {
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	buf := make([]byte, 4<<10)
	for total := 0; total < min(maxInflated, max(anyRatio, f.taken*maxRatio)); {
		n, err := z.Read(buf)
		out(buf[:n])
		total += n
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	f.curtailed = true
	return nil
}

// Read and ReadByte give the decoder what was pushed. With ReadByte it takes no
// more than it needs, so each flush of the sender is decoded at once.
func (f *inflater) Read(p []byte) (int, error) {
	if !f.wait() {
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(p, f.in)
	f.in = f.in[n:]
	f.taken += n
	return n, nil
}

// ReadByte implements io.ByteReader.
func (f *inflater) ReadByte() (byte, error) {
	if !f.wait() {
		return 0, io.ErrUnexpectedEOF
	}
	c := f.in[0]
	f.in = f.in[1:]
	f.taken++
	return c, nil
}

// wait hands control back until there is input, and reports whether any comes.
func (f *inflater) wait() bool {
	for len(f.in) == 0 {
		if !f.yield(struct{}{}) {
			return false
		}
	}
	return true
}
