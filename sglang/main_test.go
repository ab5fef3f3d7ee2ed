package sglang_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if run := childProcess(); run != nil {
		os.Exit(run())
	}
	goleak.VerifyTestMain(m)
}
