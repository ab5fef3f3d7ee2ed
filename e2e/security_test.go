package e2e

import (
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestBoundsAreAsStated holds each bound in SECURITY.md against the constant that
// it names.
func TestBoundsAreAsStated(t *testing.T) {
	text, err := os.ReadFile("../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| .* \\| ([0-9^]+)( KiB| MiB| bytes)? \\| `([^`]+)` `(\\w+)` \\|$").FindAllStringSubmatch(string(text), -1)
	if len(rows) < 30 {
		t.Fatalf("%d bounds are stated", len(rows))
	}
	for _, r := range rows {
		base, power, _ := strings.Cut(r[1], "^")
		want, _ := strconv.ParseInt(base, 10, 64)
		if n, err := strconv.Atoi(power); err == nil {
			want = 1 << n
		}
		want <<= map[string]int{" KiB": 10, " MiB": 20}[r[2]]
		source, err := os.ReadFile("../" + r[3])
		if err != nil {
			t.Error(err)
			continue
		}
		found := regexp.MustCompile(`(?m)^\s*(?:const )?` + r[4] + `\s*=\s*(.+)`).FindStringSubmatch(string(source))
		if found == nil {
			t.Errorf("%s has no %s", r[3], r[4])
			continue
		}
		value, _, _ := strings.Cut(strings.ReplaceAll(found[1], "math.MaxInt", strconv.Itoa(math.MaxInt)), " //")
		v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, value)
		if err != nil {
			t.Errorf("%s: %v", r[4], err)
			continue
		}
		if n, ok := constant.Int64Val(v.Value); !ok || n != want {
			t.Errorf("%s is %d, stated is %d", r[4], n, want)
		}
	}
}
