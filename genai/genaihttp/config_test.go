package genaihttp

import "testing"

func TestNilOptionsChangeNothing(t *testing.T) {
	if c := newConfig([]Option{nil, WithOperation(nil)}); c.operation == nil {
		t.Error("no request is recognized")
	}
	if c := newConfig([]HandlerOption{nil, WithIncludeUsage(), nil}); !c.includeUsage || c.operation == nil {
		t.Error("the option between is not heeded")
	}
}
