package sglang_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/infertel/infertel-go/sglang"
)

func TestMain(m *testing.M) {
	if run := childProcess(); run != nil {
		os.Exit(run())
	}
	os.Unsetenv(sglang.EnvTraceLevel) // or it would decide what the tests see
	goleak.VerifyTestMain(m)
}
