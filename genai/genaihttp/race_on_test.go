//go:build race

package genaihttp

// The race detector has pools forget some of what they are given, so that
// allocations cannot be counted.
const raceEnabled = true
