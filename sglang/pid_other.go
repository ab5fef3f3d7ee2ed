//go:build !linux

package sglang

import "os"

// threadID identifies what runs on this host by the process, where threads have
// no portable number.
func threadID() int { return os.Getpid() }
