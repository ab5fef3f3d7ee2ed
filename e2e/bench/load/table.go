package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// write writes the table. Processor times are those of the processes less what one
// takes that has nothing to do, medians of the rounds; what passes is taken of
// all rounds together, since telemetry must be seen in the rare long waits too.
func write(w io.Writer, loads []load, results map[string][]result) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "gateway\twithout telemetry\twith\tadded\t")
	for _, l := range loads {
		line := func(what string, of func(gateway string) time.Duration) {
			without, with := of("without"), of("with")
			fmt.Fprintf(t, "%s, %s\t%v\t%v\t%v\t\n", l.name, what, round(without), round(with), round(with-without))
		}
		line("CPU a request", func(g string) time.Duration {
			return (medianCPU(results[g+" "+l.name]) - medianCPU(results[g+" idle"])) / time.Duration(l.requests)
		})
		packet := "p%d of a request"
		if l.chunks > 0 {
			packet = "p%d of a chunk's way"
			line("CPU a chunk", func(g string) time.Duration {
				return (medianCPU(results[g+" "+l.name]) - medianCPU(results[g+" idle"])) / time.Duration(l.requests*l.chunks)
			})
		}
		for _, p := range []int{50, 99} {
			line(fmt.Sprintf(packet, p), func(g string) time.Duration { return percentile(results[g+" "+l.name], p) })
		}
	}
	fmt.Fprintf(t, "requests that broke off\t%d\t%d\t\t\n", broken(loads, results, "without"), broken(loads, results, "with"))
	_ = t.Flush() // it writes to w, whose errors show there
}

func broken(loads []load, results map[string][]result, gateway string) int {
	n := 0
	for _, l := range loads {
		for _, r := range results[gateway+" "+l.name] {
			n += r.broken
		}
	}
	return n
}

func round(d time.Duration) time.Duration {
	if d.Abs() < 10*time.Microsecond {
		return d.Round(10 * time.Nanosecond)
	}
	return d.Round(100 * time.Nanosecond)
}

func medianCPU(results []result) time.Duration {
	var all []time.Duration
	for _, r := range results {
		all = append(all, r.cpu)
	}
	return nth(all, 50)
}

func percentile(results []result, p int) time.Duration {
	var all []time.Duration
	for _, r := range results {
		all = append(all, r.waits...)
	}
	return nth(all, p)
}

// nth returns the value below which p of a hundred lie; of none it is 0.
func nth(all []time.Duration, p int) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[min(len(all)*p/100, len(all)-1)]
}
