package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/semconv"
)

var (
	goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")
	// goHead is what a page's fragments need around them: imports and
	// declarations. A reader does not see it.
	goHead = regexp.MustCompile("(?s)<!-- go\n(.*?)-->")
	// goDeclaration stands in a fragment that is no list of statements.
	goDeclaration = regexp.MustCompile(`(?m)^(func|type) `)
)

// pages returns the Markdown files for users.
func pages(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"../*.md", "../docs/*.md", "../dashboards/*.md", "../examples/*/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts[file] = string(text)
		}
	}
	return texts
}

// vet compiles a file in a directory of its own below a module's.
func vet(t *testing.T, module, name, text string) {
	t.Helper()
	dir, err := os.MkdirTemp(module, "readme")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "vet", ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", name, err, out)
	}
}

// TestPagesCompile compiles all Go code that a page for users shows. A program
// stands within the library's module, whose requirements are enough for it.
// Fragments stand together in this module, which has routers as well: functions
// as they are, and statements in functions of their own.
func TestPagesCompile(t *testing.T) {
	programs, fragments := 0, 0
	for page, text := range pages(t) {
		var rest strings.Builder
		for i, m := range goBlock.FindAllStringSubmatch(text, -1) {
			switch code := m[1]; {
			case strings.HasPrefix(code, "package main\n"):
				programs++
				vet(t, "../examples", fmt.Sprintf("%s, block %d", page, i+1), code)
			case goDeclaration.MatchString(code):
				fragments++
				rest.WriteString(code)
			default:
				fragments++
				fmt.Fprintf(&rest, "func _() {\n%s}\n", code)
			}
		}
		if rest.Len() == 0 {
			continue
		}
		head := goHead.FindStringSubmatch(text)
		if head == nil {
			t.Errorf("%s has fragments of Go and no comment with what they need", page)
			continue
		}
		vet(t, ".", page, head[1]+rest.String())
	}
	if programs < 2 || fragments < 10 {
		t.Errorf("only %d programs and %d fragments found", programs, fragments)
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	// fence is shown as it is: what looks like a link or a heading there is none.
	fence = regexp.MustCompile("(?ms)^```.*?^```")
	// unnamed is what a heading has and its anchor lacks.
	unnamed = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestPagesLink: each link within the repository leads to a file that is there,
// and to a heading that it has.
func TestPagesLink(t *testing.T) {
	links := 0
	for page, text := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(m[1], "#")
			if file == "" {
				file = page
			} else {
				file = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			if anchor != "" && !hasAnchor(t, file, anchor) {
				t.Errorf("%s: %s has no heading #%s", page, file, anchor)
			}
		}
	}
	if links < 30 {
		t.Errorf("only %d links found", links)
	}
}

func hasAnchor(t *testing.T, file, anchor string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
		name := unnamed.ReplaceAllString(strings.ToLower(m[1]), "")
		if strings.ReplaceAll(name, " ", "-") == anchor {
			return true
		}
	}
	return false
}

// TestReadmeNamesStages: the README's table has each stage of SGLang in the row of
// its level. Those of the nodes under prefill-decode disaggregation have no name
// there.
func TestReadmeNamesStages(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range semconv.Stages() {
		node := stage.Deployment == semconv.DeploymentPDPrefill || stage.Deployment == semconv.DeploymentPDDecode
		if node && stage.Level == 1 {
			continue
		}
		row := regexp.MustCompile(fmt.Sprintf("(?m)^\\| stages? of level %d: .*`%s`.*$", stage.Level, stage.Name)).FindString(string(text))
		// A column for each level above 0, from the right.
		if want := strings.Repeat(" |", stage.Level) + strings.Repeat(" ● |", 5-stage.Level); !strings.HasSuffix(row, want) {
			t.Errorf("the row of %s is %q, want it to end in %q", stage.Name, row, want)
		}
	}
}
