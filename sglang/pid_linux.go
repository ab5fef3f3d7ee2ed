package sglang

import "syscall"

// threadID identifies what runs on this host as the engine does: by the thread
// of the operating system.
func threadID() int { return syscall.Gettid() }
