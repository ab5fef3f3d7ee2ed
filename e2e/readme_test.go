package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestReadmeCompiles builds every Go program that a Markdown file for users
// shows.
func TestReadmeCompiles(t *testing.T) {
	block := regexp.MustCompile("(?s)```go\n(package main\n.*?)```")
	programs := 0
	for _, pattern := range []string{"../*.md", "../docs/*.md", "../examples/*/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range block.FindAllSubmatch(text, -1) {
				programs++
				// Within the library's module, whose requirements are enough.
				dir, err := os.MkdirTemp("../examples", "readme")
				if err != nil {
					t.Fatal(err)
				}
				defer os.RemoveAll(dir)
				if err := os.WriteFile(filepath.Join(dir, "main.go"), m[1], 0o600); err != nil {
					t.Fatal(err)
				}
				cmd := exec.Command("go", "vet", ".")
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s, program %d: %v\n%s", file, i+1, err, out)
				}
			}
		}
	}
	if programs < 2 {
		t.Errorf("only %d programs found", programs)
	}
}
