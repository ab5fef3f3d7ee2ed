package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
)

// maxLine is the longest line taken, in bytes. It bounds the memory that one
// line can cost; a line of 100,000 tokens with ids, texts and log probabilities
// fits.
const maxLine = 4 << 20

// byteOrderMark is what some editors and languages put before a text in UTF-8.
var byteOrderMark = []byte("\ufeff")

// source delivers lines to a shim until its input ends or ctx does, which is no
// error.
type source func(ctx context.Context, s *shim) error

func readerSource(r io.Reader) source {
	return func(ctx context.Context, s *shim) error {
		done := make(chan error, 1)
		// A read from a terminal or a pipe cannot be interrupted, so it is left
		// behind when ctx ends; the closed shim takes no more of it.
		go func() { done <- readLines(ctx, "", r, s) }()
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

func openFile(name string) (source, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, s *shim) error {
		defer f.Close()
		return readerSource(f)(ctx, s)
	}, nil
}

// listenUnix takes the place of a socket that a dead process left behind, never
// of one that is in use or of another file.
func listenUnix(path string) (source, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == os.ModeSocket {
		if c, err := net.Dial("unix", path); err == nil {
			c.Close()
			return nil, fmt.Errorf("listen unix %s: another process listens there", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, s *shim) error { return accept(ctx, l, s) }, nil
}

func accept(ctx context.Context, l net.Listener, s *shim) error {
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		errs  []error
		count int
	)
	for {
		conn, err := l.Accept()
		if err != nil {
			l.Close()
			wg.Wait()
			mu.Lock()
			defer mu.Unlock()
			if ctx.Err() == nil {
				errs = append(errs, err)
			}
			return errors.Join(errs...)
		}
		count++
		origin := fmt.Sprintf("connection %d, ", count)
		wg.Go(func() {
			defer conn.Close()
			unblock := context.AfterFunc(ctx, func() { conn.Close() })
			defer unblock()
			if err := readLines(ctx, origin, conn, s); err != nil && ctx.Err() == nil {
				mu.Lock()
				errs = append(errs, fmt.Errorf("%s%w", origin, err))
				mu.Unlock()
			}
		})
	}
}

// readLines feeds the lines of r, the last one also without a line feed.
func readLines(ctx context.Context, origin string, r io.Reader, s *shim) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var text []byte
	for number := 1; ; number++ {
		var long bool
		var err error
		text, long, err = readLine(in, text[:0])
		if number == 1 {
			text = bytes.TrimPrefix(text, byteOrderMark)
		}
		if long {
			s.skip(origin, number, fmt.Errorf("longer than %d bytes", maxLine))
		} else if len(bytes.TrimSpace(text)) > 0 {
			if s.feed(ctx, origin, number, text) != nil {
				return nil
			}
		}
		switch {
		case errors.Is(err, io.EOF) || ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
	}
}

// readLine appends the next line to buf. Of a line that is too long nothing is
// kept.
func readLine(in *bufio.Reader, buf []byte) (text []byte, long bool, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		if !long && len(buf)+len(piece) > maxLine {
			long = true
			buf = buf[:0]
		}
		if !long {
			buf = append(buf, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return buf, long, err
		}
	}
}
