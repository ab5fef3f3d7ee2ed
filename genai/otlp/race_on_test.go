//go:build race

package otlp

// The race detector makes encoding messages some twelve times slower, so the
// largest tests are smaller with it.
const raceEnabled = true
