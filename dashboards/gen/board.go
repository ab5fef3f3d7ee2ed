package main

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// board is one dashboard.
type board struct {
	name      string // of the file, and of the identity in Grafana
	title     string
	text      string
	variables []variable
	rows      []row
}

// variable is one whose values are those of a label.
type variable struct {
	name, label, text string
	of                string // the label
	series            string // that have it
}

type row struct {
	title  string
	panels []panel
}

const columns = 24

// build makes a dashboard of schema 1, which every Grafana imports; schema 2, which
// the SDK prefers, needs a new one.
func (b *board) build() (dashboard.Dashboard, error) { //nolint:staticcheck // schema 1 on purpose
	d := dashboard.NewDashboardBuilder(b.title) //nolint:staticcheck // schema 1 on purpose
	d.Uid("infertel-"+b.name).Description(b.text).Tags([]string{"infertel", "llm", b.name}).
		Time("now-1h", "now").Refresh("1m").Timezone("browser").Editable().
		Tooltip(dashboard.DashboardCursorSyncCrosshair).
		Link(dashboard.NewDashboardLinkBuilder("infertel").Type(dashboard.DashboardLinkTypeDashboards).Tags([]string{"infertel"}).KeepTime(true)).
		WithVariable(dashboard.NewDatasourceVariableBuilder("datasource").Label("Data source").Type("prometheus"))
	for _, v := range b.variables {
		d.WithVariable(v.build())
	}
	var id, y uint32
	for _, r := range b.rows {
		id++
		d.WithRow(dashboard.NewRowBuilder(r.title).Id(id).GridPos(dashboard.GridPos{Y: y, W: columns, H: 1}))
		y++
		var x, tallest uint32
		for _, p := range r.panels {
			if x+p.width > columns {
				x, y, tallest = 0, y+tallest, 0
			}
			id++
			d.WithPanel(p.build(id, dashboard.GridPos{X: x, Y: y, W: p.width, H: p.height()}))
			x += p.width
			tallest = max(tallest, p.height())
		}
		y += tallest
	}
	return d.Build()
}

// build makes a variable that begins with all values. All of them is a pattern
// that fits series without the label too.
func (v *variable) build() cog.Builder[dashboard.VariableModel] {
	query := "label_values(" + v.series + ", " + v.of + ")"
	all := dashboard.VariableOption{
		Selected: new(true),
		Text:     dashboard.StringOrArrayOfString{ArrayOfString: []string{"All"}},
		Value:    dashboard.StringOrArrayOfString{ArrayOfString: []string{"$__all"}},
	}
	return dashboard.NewQueryVariableBuilder(v.name).Label(v.label).Description(v.text).
		Datasource(source).Query(dashboard.StringOrMap{String: &query}).Definition(query).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).Sort(dashboard.VariableSortNaturalAsc).
		Multi(true).IncludeAll(true).AllValue(".*").Current(all)
}

// telemetryRow shows whether what the other rows show is all there is.
func telemetryRow(width uint32) row {
	s := scope(matches(serviceLabel, "$service"))
	return row{"Telemetry", []panel{
		{
			title: "Telemetry lost", width: width, unit: "short", empty: "nothing lost",
			text: "Spans, log records and exports of metrics that did not arrive at the Collector since the process started," +
				" by signal and cause. There is a series only where something was lost.",
			queries: []query{{by("job, signal, cause", s.series(lost)), "{{job}} {{signal}} {{cause}}"}},
		},
		{
			title: "Processes that report", width: columns - width, unit: "short",
			text:    "Processes, by service, of which the Collector has metrics. It forgets a process some minutes after the last export.",
			queries: []query{{"count by (job) (group by (job, instance) (" + s.series(targetInfo) + "))", "{{job}}"}},
		},
	}}
}
