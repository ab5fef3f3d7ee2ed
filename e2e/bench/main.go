// Command bench measures what the library costs, each kind of work beside the
// same work without it, and compares the result with its budget.
//
//	go run . -out ../../docs/performance.md
//
// The baselines are written by hand with the OpenTelemetry API, as a careful
// engineer would; the tests hold them to the same telemetry. For a profile of one
// of them use go test -bench.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"testing"
)

func main() {
	testing.Init()
	rounds := flag.Int("rounds", 15, "how often each subject is measured")
	time := flag.Duration("time", 0, "how long each time (default 40ms)")
	only := flag.String("only", "", "measure the groups that match this `pattern` alone, and print what was measured")
	out := flag.String("out", "", "write the report to this `file` too")
	flag.Parse()
	if *time == 0 {
		*time = 40e6
	}
	if err := flag.Set("test.benchtime", time.String()); err != nil {
		panic(err)
	}
	if *only != "" {
		partial(*only, *rounds)
		return
	}
	f := measure(groups(), *rounds, os.Stderr)
	measureMemory(f)
	fmt.Println(machine())
	for _, t := range tables() {
		t.print(os.Stdout, f)
	}
	if *out != "" {
		var doc = must(os.Create(*out))
		report(doc, f, fmt.Sprintf("%d rounds of %v each", *rounds, *time))
		if err := doc.Close(); err != nil {
			panic(err)
		}
	}
}

func groups() []group {
	return slices.Concat([]group{offGroup()}, startGroups(), entryGroups(), vllmGroups(), sglangGroups(), reportGroups(), httpGroups(), lengthGroups(), parallelGroups())
}

func tables() []table {
	return []table{
		{"The API layer", "", slices.Concat(entryRows(), httpRows())},
		{"The engines", "", slices.Concat(vllmRows(), sglangRows(), reportRows())},
		{"What is off", "A call on what is not recorded: because there is no SDK, the trace is not sampled, or the trace level or granularity leaves it out.", offRows()},
		{"With length", "The cost of one more of its kind in a request that has 10, 100, 1,000, 10,000 and 100,000 of them, and of the last over the cheapest of those of 1,000 or more.", lengthRows()},
		{"With goroutines", fmt.Sprintf("The time that passes for each request on 1 goroutine and on %d that share one engine, instrumentation or handler.", goroutines), parallelRows()},
		{"Memory", fmt.Sprintf("Heap that one of %d holds while they run, for streams beyond that of the bare handler.", live), memoryRows()},
	}
}

// partial prints the figures of some groups.
func partial(pattern string, rounds int) {
	re := regexp.MustCompile(pattern)
	f := measure(slices.DeleteFunc(groups(), func(g group) bool { return !re.MatchString(g.name) }), rounds, io.Discard)
	names := make([]string, 0, len(f))
	for name := range f {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Printf("%-60s %v, %s\n", name, f[name], size(f[name].bytes))
	}
}
