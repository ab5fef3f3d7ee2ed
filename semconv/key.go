package semconv

import (
	"strconv"

	"go.opentelemetry.io/otel/attribute"
)

// indexedKey builds a key around two indices with a single allocation, which
// formatting would not: tool calls are named on the path of every response.
func indexedKey(prefix string, i int, middle string, j int, suffix string) attribute.Key {
	var buf [96]byte
	b := append(buf[:0], prefix...)
	b = strconv.AppendInt(b, int64(i), 10)
	b = append(b, middle...)
	b = strconv.AppendInt(b, int64(j), 10)
	b = append(b, suffix...)
	return attribute.Key(b)
}
