package main

import (
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/text"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"github.com/infertel/infertel-go/semconv"
)

// Units that Grafana has no name of its own for.
const tokensPerSecond = "si:tok/s"

// minStep is the least distance between points. Grafana makes rates over four
// times of it, so that each holds several of the exports that the SDK makes once
// a minute by default.
const minStep = "1m"

// panel is one panel. Without queries it is text.
type panel struct {
	title   string
	text    string // the description, or what a text panel shows
	unit    string
	queries []query
	kind    kind
	width   uint32    // of the 24 columns
	top     float64   // highest value, if there is one
	limits  []float64 // from where it is of concern, from where it is bad
	empty   string    // shown where there is no series
}

type query struct{ expr, legend string }

type kind int

const (
	lines kind = iota
	stacked
	number
)

func (p *panel) height() uint32 {
	switch {
	case p.kind == number:
		return 4
	case len(p.queries) == 0:
		return uint32(4 + strings.Count(p.text, "\n"))
	}
	return 9
}

var source = common.DataSourceRef{Type: new("prometheus"), Uid: new("${datasource}")}

func (p *panel) build(id uint32, at dashboard.GridPos) cog.Builder[dashboard.Panel] {
	if len(p.queries) == 0 {
		return text.NewPanelBuilder().Id(id).GridPos(at).Title(p.title).Mode(text.TextModeMarkdown).Content(p.text)
	}
	if p.kind == number {
		return stat.NewPanelBuilder().Id(id).GridPos(at).Title(p.title).Description(p.description()).
			Datasource(source).Targets(p.targets()).Unit(p.unit).Min(0).
			Orientation(common.VizOrientationAuto).
			Thresholds(p.thresholds()).ColorScheme(dashboard.NewFieldColorBuilder().Mode(dashboard.FieldColorModeIdThresholds)).
			GraphMode(common.BigValueGraphModeArea).ColorMode(common.BigValueColorModeValue).
			ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"}))
	}
	b := timeseries.NewPanelBuilder().Id(id).GridPos(at).Title(p.title).Description(p.description()).
		Datasource(source).Targets(p.targets()).Unit(p.unit).Min(0).
		LineWidth(1).FillOpacity(8).ShowPoints(common.VisibilityModeAuto).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending)).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).Placement(common.LegendPlacementBottom).
			DisplayMode(common.LegendDisplayModeTable).Calcs([]string{"mean", "max", "lastNotNull"}))
	if p.kind == stacked {
		b.FillOpacity(40).Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal).Group("A"))
	}
	if p.empty != "" {
		b.NoValue(p.empty)
	}
	if p.top > 0 {
		b.Max(p.top)
	}
	if len(p.limits) > 0 {
		b.Thresholds(p.thresholds()).ThresholdsStyle(common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeDashed))
	}
	return b
}

func (p *panel) targets() []cog.Builder[variants.Dataquery] {
	var targets []cog.Builder[variants.Dataquery]
	for i, q := range p.queries {
		targets = append(targets, prometheus.NewDataqueryBuilder().RefId(string(rune('A'+i))).Datasource(source).
			Expr(q.expr).LegendFormat(q.legend).Interval(minStep).Range().EditorMode(prometheus.QueryEditorModeCode))
	}
	return targets
}

func (p *panel) thresholds() *dashboard.ThresholdsConfigBuilder {
	colors := []string{"orange", "red"}
	steps := []dashboard.Threshold{{Color: "green"}}
	for i, limit := range p.limits {
		steps = append(steps, dashboard.Threshold{Value: &limit, Color: colors[i]})
	}
	return dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).Steps(steps)
}

// description adds to the text where the numbers come from, and what such numbers
// cannot say.
func (p *panel) description() string {
	var names []string
	var seconds, snapshots bool
	for _, q := range p.queries {
		for _, m := range metricsOf(q.expr) {
			seconds = seconds || m.Instrument == semconv.InstrumentCounter && m.Unit == "s"
			snapshots = snapshots || m.Snapshot
			if n := "`" + m.Name + "`"; !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	d := p.text
	if snapshots {
		d += " The metric is a snapshot that each statistics report adds once, so its growth is divided by the number of reports."
	}
	if seconds && p.unit == units.Seconds {
		d += " A counter of seconds gives averages only: no percentile, no maximum."
	}
	if len(names) > 0 {
		d += "\n\nFrom " + strings.Join(names, ", ") + "."
	}
	return d
}
