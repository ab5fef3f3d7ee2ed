// Package process builds the example programs and runs them as processes of
// their own that tell of their memory and goroutines.
package process

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const module = "github.com/infertel/infertel-go"

//go:embed testdata/stats.go
var statsFile []byte

// Program is an example program that has been built.
type Program struct{ dir string }

// Build builds the example of a name, with the race detector if wanted. The
// caller ends it with Remove.
func Build(name string, race bool) (*Program, error) {
	dir, err := os.MkdirTemp("", "infertel-e2e")
	if err != nil {
		return nil, err
	}
	p := &Program{dir}
	if err := p.build(name, race); err != nil {
		return nil, errors.Join(err, p.Remove())
	}
	return p, nil
}

func (p *Program) build(name string, race bool) error {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return fmt.Errorf("process: go list: %w", err)
	}
	source := filepath.Join(strings.TrimSpace(string(root)), "examples", name)
	stats, overlay := filepath.Join(p.dir, "stats.go"), filepath.Join(p.dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(source, "e2e_stats.go"): stats}})
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(stats, statsFile, 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		return err
	}
	args := []string{"build", "-o", p.exe(), "-overlay", overlay}
	if race {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Dir = source
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("process: %w\n%s", err, text)
	}
	return nil
}

func (p *Program) exe() string { return filepath.Join(p.dir, "program") }

// Remove deletes the program.
func (p *Program) Remove() error { return os.RemoveAll(p.dir) }

// Process is a running program.
type Process struct {
	cmd    *exec.Cmd
	stats  string
	stderr output
	done   chan struct{} // closed when it has ended
}

// Start runs the program with arguments and additional environment variables and
// returns when it is up. Configure, if not nil, changes the command before it
// starts.
func (p *Program) Start(args, env []string, configure func(*exec.Cmd)) (*Process, error) {
	stats, err := FreeAddress()
	if err != nil {
		return nil, err
	}
	r := &Process{cmd: exec.Command(p.exe(), args...), stats: "http://" + stats, done: make(chan struct{})}
	for _, kv := range os.Environ() { // what the tester's own environment says of telemetry is not meant
		if !strings.HasPrefix(kv, "OTEL_") {
			r.cmd.Env = append(r.cmd.Env, kv)
		}
	}
	r.cmd.Env = append(append(r.cmd.Env, "INFERTEL_STATS="+stats), env...)
	r.cmd.Stderr = &r.stderr
	if configure != nil {
		configure(r.cmd)
	}
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(r.done)
		_ = r.cmd.Wait() // its status is read from the ProcessState
	}()
	if err := r.WaitHTTP(r.stats, 30*time.Second); err != nil {
		r.Kill()
		return nil, err
	}
	return r, nil
}

// Stats are a program's figures.
type Stats struct {
	Heap       int64 // live bytes, after a collection
	RSS        int64 // bytes
	Goroutines int
}

func (s Stats) String() string {
	return fmt.Sprintf("live heap %.1f MiB, RSS %.1f MiB, %d goroutines", MiB(s.Heap), MiB(s.RSS), s.Goroutines)
}

// MiB returns bytes as MiB.
func MiB(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// Stats collects garbage in the process and returns its figures.
func (p *Process) Stats() (Stats, error) {
	var s Stats
	resp, err := http.Get(p.stats)
	if err != nil {
		return s, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&s); err != nil {
		return s, err
	}
	// Pages in memory are the second number. Without /proc there is no figure.
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid)); err == nil {
		var size, resident int64
		if _, err := fmt.Sscan(string(text), &size, &resident); err == nil {
			s.RSS = resident * int64(os.Getpagesize())
		}
	}
	return s, nil
}

// Stderr returns what the process has said so far.
func (p *Process) Stderr() string { return p.stderr.String() }

// Interrupt asks the process to end and returns its exit status.
func (p *Process) Interrupt(timeout time.Duration) (int, error) {
	_ = p.cmd.Process.Signal(syscall.SIGINT)
	return p.Wait(timeout)
}

// Wait returns the exit status when the process has ended.
func (p *Process) Wait(timeout time.Duration) (int, error) {
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode(), nil
	case <-time.After(timeout):
		return -1, fmt.Errorf("process: still running after %v\n%s", timeout, p.Stderr())
	}
}

// CPU returns the processor time that an ended process took.
func (p *Process) CPU() time.Duration {
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

// Kill ends the process if it runs.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// WaitHTTP returns when something answers at a URL.
func (p *Process) WaitHTTP(url string, timeout time.Duration) error {
	for end := time.Now().Add(timeout); ; time.Sleep(20 * time.Millisecond) {
		resp, err := http.Get(url)
		if err == nil {
			return resp.Body.Close()
		}
		select {
		case <-p.done:
			return fmt.Errorf("process: ended\n%s", p.Stderr())
		default:
		}
		if time.Now().After(end) {
			return fmt.Errorf("process: %w\n%s", err, p.Stderr())
		}
	}
}

// FreeAddress returns a loopback address on which nothing listens.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// output keeps what is written to it.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}
