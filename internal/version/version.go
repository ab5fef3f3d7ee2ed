// Package version holds the version of the module, which every instrumentation
// scope carries.
package version

// Version is the version of the module in semantic versioning.
const Version = "0.1.0"
