// Command browsertest opens the page of the reference emitter in headless
// Chromium, in light and dark, wide and narrow, with its script and without, and
// fails unless every span is to be seen and the console stays silent. Run it from
// the top of the repository:
//
//	go run ./examples/internal/view/browsertest
//
// It is a program and not a test since it needs a browser.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// probe runs in a copy of the page and puts what it measured where a dump of the
// document shows it.
const probe = `<script id="probe">addEventListener("load", () => {
  const shown = [...document.querySelectorAll(".span > summary")].filter((s) => s.checkVisibility());
  const bars = shown.filter((s) => { const r = s.querySelector(".bar").getBoundingClientRect(), t = s.querySelector(".track").getBoundingClientRect();
    return r.width >= 1 && r.left >= t.left - 1 && r.right <= t.right + 3; });
  const first = document.querySelector(".span"); first.querySelector("summary").click();
  const c = (v) => (v.match(/\d+/g) || []).map(Number), style = getComputedStyle(document.body);
  document.body.dataset.probe = JSON.stringify({ spans: shown.length, bars: bars.length, charts: document.querySelectorAll(".series svg").length,
    opens: first.open && first.querySelector("th").checkVisibility(), wide: document.documentElement.scrollWidth - innerWidth,
    tools: !document.querySelector(".tools").hidden, back: c(style.backgroundColor)[0], text: c(style.color)[0] });
});</script>`

type measured struct {
	Spans, Bars, Charts, Wide, Back, Text int
	Opens, Tools                          bool
}

type setting struct {
	name   string
	flags  []string
	script bool
	dark   bool
}

var settings = []setting{
	{"light", []string{"--window-size=1280,900"}, true, false},
	{"dark", []string{"--window-size=1280,900", "--blink-settings=preferredColorScheme=0"}, true, true},
	{"phone", []string{"--window-size=500,900"}, true, false},
	{"without script", []string{"--window-size=1280,900"}, false, false},
}

func main() {
	browser := flag.String("browser", "chromium", "the `program` to run")
	shots := flag.String("screenshots", "", "also write screenshots to this `directory`")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	if err := run(ctx, *browser, *shots); err != nil {
		fmt.Fprintln(os.Stderr, "browsertest:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, browser, shots string) error {
	dir, err := os.MkdirTemp("", "browsertest")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	page := filepath.Join(dir, "page.html")
	if out, err := exec.CommandContext(ctx, "go", "run", "./examples/reference", "-html", page).CombinedOutput(); err != nil {
		return fmt.Errorf("the reference emitter: %w: %s", err, out)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	for _, s := range settings {
		if err := s.try(ctx, browser, dir, shots, string(text)); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Println("ok", s.name)
	}
	return nil
}

func (s *setting) try(ctx context.Context, browser, dir, shots, text string) error {
	found := regexp.MustCompile(`<p>(\d+) spans in`).FindStringSubmatch(text)
	if found == nil {
		return fmt.Errorf("the page does not say how many spans it shows")
	}
	spans, err := strconv.Atoi(found[1])
	if err != nil {
		return err
	}
	if !s.script {
		text = regexp.MustCompile(`(?s)<script>.*</script>`).ReplaceAllString(text, "")
	}
	file := filepath.Join(dir, "probe.html")
	if err := os.WriteFile(file, []byte(strings.Replace(text, "</body>", probe+"</body>", 1)), 0o600); err != nil {
		return err
	}
	out, err := s.browse(ctx, browser, dir, file, "--dump-dom")
	if err != nil {
		return err
	}
	if shots != "" {
		name := filepath.Join(shots, strings.ReplaceAll(s.name, " ", "-")+".png")
		if _, err := s.browse(ctx, browser, dir, file, "--screenshot="+name); err != nil {
			return err
		}
	}
	match := regexp.MustCompile(`data-probe="([^"]*)"`).FindStringSubmatch(out)
	if match == nil {
		return fmt.Errorf("the page did not open")
	}
	var m measured
	if err := json.Unmarshal([]byte(html.UnescapeString(match[1])), &m); err != nil {
		return err
	}
	switch {
	case m.Spans != spans || m.Bars != spans:
		return fmt.Errorf("%d spans and %d bars are to be seen, want %d", m.Spans, m.Bars, spans)
	case m.Charts == 0:
		return fmt.Errorf("no metric has a chart")
	case !m.Opens:
		return fmt.Errorf("a click on a span does not show its attributes")
	case m.Wide > 0:
		return fmt.Errorf("the page is %d pixels wider than the window", m.Wide)
	case m.Tools != s.script:
		return fmt.Errorf("the tools are there: %t, want %t", m.Tools, s.script)
	case (m.Back < m.Text) != s.dark:
		return fmt.Errorf("text is %d on %d, want dark: %t", m.Text, m.Back, s.dark)
	}
	return nil
}

// browse runs the browser and returns its output. A word on the console, or a
// look into the network, is an error.
func (s *setting) browse(ctx context.Context, browser, dir, file, action string) (string, error) {
	profile, err := os.MkdirTemp(dir, "profile")
	if err != nil {
		return "", err
	}
	args := append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--user-data-dir=" + profile, "--enable-logging=stderr", "--hide-scrollbars", action,
	}, s.flags...)
	cmd := exec.CommandContext(ctx, browser, append(args, (&url.URL{Scheme: "file", Path: file}).String())...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w", browser, err)
	}
	for _, line := range strings.Split(stderr.String(), "\n") {
		if strings.Contains(line, "CONSOLE") {
			return "", fmt.Errorf("the console says %s", line)
		}
	}
	return stdout.String(), nil
}
