package command_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/examples/internal/command"
)

func TestRun(t *testing.T) {
	parse := func(args []string, stderr io.Writer) (string, error) {
		set := flag.NewFlagSet("program", flag.ContinueOnError)
		set.SetOutput(stderr)
		s := set.String("do", "nothing", "")
		err := command.Parse(set, args)
		return *s, err
	}
	act := func(_ context.Context, _ string, stdout, _ io.Writer) error {
		_, err := io.WriteString(stdout, "done")
		return err
	}
	fail := func(context.Context, string, io.Writer, io.Writer) error { return errors.New("something was lost") }
	for _, tc := range []struct {
		args   string
		act    func(context.Context, string, io.Writer, io.Writer) error
		status int
		stdout string
		stderr string
	}{
		{"", act, 0, "done", ""},
		{"-do it", act, 0, "done", ""},
		{"-h", act, 0, "", "Usage of program"},
		{"-undo", act, command.ExitUsage, "", "program: see -h\n"},
		{"it", act, command.ExitUsage, "", "program: unexpected argument \"it\", want flags only\n"},
		{"", fail, command.ExitLost, "", "program: something was lost\n"},
	} {
		var stdout, stderr bytes.Buffer
		status := command.Run(t.Context(), "program", strings.Fields(tc.args), &stdout, &stderr, parse, tc.act)
		if status != tc.status || stdout.String() != tc.stdout || !strings.Contains(stderr.String(), tc.stderr) || (tc.stderr == "") != (stderr.Len() == 0) {
			t.Errorf("%q: exit status %d, said %q and %q", tc.args, status, stdout.String(), stderr.String())
		}
	}
}
