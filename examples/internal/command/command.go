// Package command is what the example programs have in common as commands: how
// they are interrupted, read their flags, and exit.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// The exit statuses besides 0.
const (
	// ExitLost says that something was lost or refused.
	ExitLost = 1
	// ExitUsage says that the program was called in a way it does not know.
	ExitUsage = 2
)

// Main runs a program and exits with its status. An interrupt ends the program's
// context; a second one kills it.
func Main(run func(ctx context.Context, args []string, stdout, stderr io.Writer) int) {
	// Kubernetes and systemd send SIGTERM.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Run is a program without the process around it: it parses its arguments, acts,
// says what went wrong, and returns the exit status.
func Run[F any](ctx context.Context, name string, args []string, stdout, stderr io.Writer,
	parse func(args []string, stderr io.Writer) (F, error), act func(ctx context.Context, f F, stdout, stderr io.Writer) error) int {
	f, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return ExitUsage
	}
	if err := act(ctx, f, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return ExitLost
	}
	return 0
}

// Parse parses the arguments of a program that takes flags only.
func Parse(set *flag.FlagSet, args []string) error {
	if err := set.Parse(args); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			err = errors.New("see -h") // the flag set has said what is wrong
		}
		return err
	}
	if set.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q, want flags only", set.Arg(0))
	}
	return nil
}
