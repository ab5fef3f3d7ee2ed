// Package trouble holds the tests of the example gateway whose collector is in
// trouble: gone, silent, full, slow, or taking some of what it is sent.
package trouble
