// Package e2e tests infertel against programs and clients that users run. It is
// a module of its own, so that what these need stays out of the library's
// module.
package e2e
