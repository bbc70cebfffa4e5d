// Sweeps on the terminal: a table, a plot and the area of every curve.
#include <fmt/format.h>

#include "report/draw/plot.h"
#include "report/numbers/sweeps.h"
#include "report/page/terminal.h"
#include "report/tables/sweep_rows.h"

namespace headprune {
namespace {

std::string plot_of(const Sweep& sweep, const std::string& metric, const TerminalOptions& options) {
  Plot plot;
  plot.x_label = "fraction of heads removed";
  plot.y_label = metric;
  plot.width = options.width - 2;
  plot.colour = options.colour;
  for (const CurveGroup& curve : sweep.curves) {
    PlotSeries series{curve.name(), {}};
    for (const PointGroup& point : curve.points) {
      if (const MetricSummary* summary = point.metric(metric)) {
        series.points.push_back({point.first().fraction, summary->estimate.value});
      }
    }
    plot.series.push_back(std::move(series));
  }
  // One band; a second random control would hide the first.
  if (!sweep.controls.empty()) {
    const CurveGroup& control = sweep.controls.front();
    plot.band_label = control.method + ", smallest to largest";
    for (const PointGroup& point : control.points) {
      if (const MetricSummary* summary = point.metric(metric)) {
        plot.band.push_back({point.first().fraction, summary->low, summary->high});
      }
    }
  }
  return draw_plot(plot);
}

}  // namespace

std::string sweeps_text(const Record& record, const TerminalOptions& options) {
  const std::string metric = headline_metric(record);
  std::string out;
  for (const Sweep& sweep : sweeps_of(record)) {
    out += '\n' + coloured("Sweep " + sweep_title(sweep), kBold, options.colour);
    out += fmt::format(": {} of the pruned model\n", metric);
    const size_t controls = (sweep.curves.empty() ? 0 : sweep.controls.size()) + (sweep.trained.empty() ? 0 : 1);
    out += text_table(sweep_rows(sweep, metric), {options.width, 2, 2, controls, 1});
    for (const std::string& note : sweep_notes(record, sweep, metric)) out += wrapped(note, options.width, 2);
    const std::string plot = plot_of(sweep, metric, options);
    if (!plot.empty()) out += '\n' + plot;
    const std::string areas = areas_sentence(record, sweep, metric);
    if (!areas.empty()) out += wrapped(areas, options.width, 2);
  }
  for (const MaskList& list : mask_lists(record)) {
    out += '\n' + coloured(mask_title(list), kBold, options.colour);
    out += fmt::format(": {}\n", mask_subject(list, metric));
    out += text_table(mask_rows(list, metric), {options.width, 2, 1, 0, 1});
    for (const std::string& note : mask_notes(record, list, metric)) out += wrapped(note, options.width, 2);
  }
  return out;
}

}  // namespace headprune
