//go:build !race

package genaihttp

const raceEnabled = false
