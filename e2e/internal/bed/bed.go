// Package bed starts what the tests run against: the OpenTelemetry Collector,
// Prometheus, and the example programs, each as a process of its own on loopback,
// on free ports, ended when the test ends.
package bed

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

const patience = 60 * time.Second // before something is taken for broken; machines are slow at times

// Root is the root of the repository.
var Root = func() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}()

// cacheDir is where what is costly to make stays between runs.
func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "infertel-go"), err
}

// FreeAddress returns a host and port of loopback that nothing listens on.
func FreeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Eventually waits until f returns nil, and fails the test with its last error if
// that takes too long.
func Eventually(t testing.TB, f func() error) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// process is a program that runs until the test ends.
type process struct {
	cmd    *exec.Cmd
	said   output
	exited chan struct{}
}

// output is what a process says. It is read while the process runs.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func start(t testing.TB, exe string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(exe, args...), exited: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.said, &p.said
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.exited
		if t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(exe), &p.said)
		}
	})
	return p
}

// running returns an error if the process has ended.
func (p *process) running() error {
	select {
	case <-p.exited:
		return fmt.Errorf("%s ended: %v\n%s", p.cmd.Path, p.cmd.ProcessState, &p.said)
	default:
		return nil
	}
}

// until waits for the process to be up. It returns an error if the process ends
// before that.
func (p *process) until(t testing.TB, up func() error) error {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err := errors.Join(p.running(), up())
		if err == nil || p.running() != nil || time.Now().After(end) {
			return err
		}
	}
}

// stop ends the process as a service manager would, and fails the test unless it
// ends well.
func (p *process) stop(t testing.TB) {
	t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(patience):
		t.Fatalf("%s does not stop", p.cmd.Path)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("%s: exit status %d\n%s", p.cmd.Path, code, &p.said)
	}
}
