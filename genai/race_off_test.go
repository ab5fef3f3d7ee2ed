//go:build !race

package genai_test

const raceEnabled = false
