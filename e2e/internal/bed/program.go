package bed

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

var examples string // the folder of the programs, once they are built

// buildExamples builds the example programs, once for all tests of a package.
var buildExamples = sync.OnceValue(func() (err error) {
	if examples, err = os.MkdirTemp("", "infertel-e2e"); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-o", examples+string(filepath.Separator),
		"./examples/reference", "./examples/gateway", "./examples/engineshim", "./examples/check")
	cmd.Dir = Root
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the examples: %w\n%s", err, said)
	}
	return nil
})

// Example returns the path of an example program.
func Example(t testing.TB, name string) string {
	t.Helper()
	if err := buildExamples(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(examples, name)
}

// Run runs the tests and removes what was built for them. It is called by
// TestMain and returns the exit status.
func Run(m *testing.M) int {
	code := m.Run()
	if examples != "" {
		_ = os.RemoveAll(examples)
	}
	return code
}
