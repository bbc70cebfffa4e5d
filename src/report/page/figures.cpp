#include "report/page/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "report/draw/bar_chart.h"
#include "report/draw/curve_lines.h"
#include "report/numbers/sweeps.h"
#include "report/numbers/timing.h"
#include "report/page/terminal.h"
#include "report/tables/sweep_rows.h"

namespace headprune {
namespace {

constexpr double kPanelGap = 18;

Svg curve_panel(const Record& record, const Sweep& sweep, const std::string& metric) {
  LineChart chart;
  chart.title = sweep_title(sweep);
  chart.y_label = what_is_measured(record, sweep.any().points.front(), metric);
  chart.x_label = "heads removed (%)";
  chart.x_range = {0, 100};  // so that sweeps and runs can be laid side by side
  set_limits(chart, metric_info(record, metric));
  for (const CurveGroup& curve : sweep.curves) chart.series.push_back(line_of(curve.name(), curve.points, metric));
  if (!sweep.controls.empty()) add_band(chart, sweep.controls.front(), metric);
  set_level(chart, base_metric(record, metric, sweep.any().at_step));
  return draw_line_chart(chart);
}

std::vector<std::string> metric_names(const Record& record) {
  std::vector<std::string> names;
  if (record.facts) {
    for (const MetricFact& metric : record.facts->metrics) names.push_back(metric.name);
  }
  return names;
}

std::string title_of_form(const std::string& form) {
  return form == "masked" ? "masked (gates 0)" : form == "removed" ? "removed" : form;
}

std::string milliseconds(double seconds) { return fmt::format("{:.3g} ms", 1e3 * seconds); }

using TimingKey = std::tuple<int64_t, int64_t>;  // batch size, length

/// What the intact model took, if time were proportional to attention FLOPs.
std::optional<double> flop_prediction(const Record& record, const TimingSummary& timing, double intact) {
  if (timing.result->form != "removed" || timing.point == nullptr) return std::nullopt;
  const PointResult* base = record.base(timing.point->spec);
  if (base == nullptr || base->attention_flops_per_token <= 0) return std::nullopt;
  return intact * static_cast<double>(timing.point->attention_flops_per_token) /
         static_cast<double>(base->attention_flops_per_token);
}

}  // namespace

std::string Figure::document() const {
  double height = 0;
  for (const Svg& panel : panels) height += panel.height() + (height > 0 ? kPanelGap : 0);
  Svg all(kFigureWidth, height);
  double y = 0;
  for (const Svg& panel : panels) {
    all.place(y, panel);
    y += panel.height() + kPanelGap;
  }
  return all.document(alt);
}

std::vector<Figure> curve_figures(const Record& record) {
  std::vector<Figure> figures;
  const std::vector<Sweep> sweeps = sweeps_of(record);
  if (sweeps.empty()) return figures;
  for (const std::string& metric : metric_names(record)) {
    Figure figure;
    figure.file = fmt::format("curve-{}.svg", metric);
    for (const Sweep& sweep : sweeps) figure.panels.push_back(curve_panel(record, sweep, metric));
    figure.alt = fmt::format("{} of the pruned model over the part of its heads removed, by method", metric);
    figure.caption = "Upright lines at the points are 95 % intervals, cut where the metric ends.";
    figures.push_back(std::move(figure));
  }
  return figures;
}

std::vector<Figure> timing_figures(const Record& record) {
  const std::vector<TimingSummary> timings = timing_summaries(record);
  std::map<TimingKey, BarGroup> groups;
  bool expected = false;
  for (const TimingSummary& timing : timings) {
    const TimingKey key{timing.result->batch_size, timing.result->sequence_length};
    BarGroup& group = groups[key];
    group.title = fmt::format("batch of {}, {} tokens each", std::get<0>(key), std::get<1>(key));
    Bar bar;
    bar.label = title_of_form(timing.result->form);
    if (timing.point != nullptr && timing.result->form != "intact") bar.label += " " + percent(timing.point->fraction);
    if (timing.point != nullptr && recorded_seeds(record).size() > 1)
      bar.label += fmt::format(", seed {}", timing.point->spec.seed);
    const Spread& spread = timing.seconds_per_batch;
    bar.value = spread.median;
    bar.low = spread.min;
    bar.high = spread.max;
    bar.series = timing.result->form == "intact" ? 0 : timing.result->form == "masked" ? 6 : 2;
    bar.text = milliseconds(spread.median);
    if (timing.speed) {  // against the intact form of the same model, which was timed with it
      bar.text += fmt::format(", {:.2f}x", *timing.speed);
      bar.expected = flop_prediction(record, timing, *timing.speed * spread.median);
      expected = expected || bar.expected.has_value();
    }
    bar.title = fmt::format("{}: median {}, fastest {}, slowest {} of {} repeats", bar.label,
                            milliseconds(spread.median), milliseconds(spread.min), milliseconds(spread.max), spread.n);
    group.bars.push_back(std::move(bar));
  }
  if (groups.empty()) return {};
  BarChart chart;
  chart.title = "Time of a forward pass";
  chart.subtitle =
      fmt::format("median; the line spans the fastest and slowest of {} repeats", timings.front().seconds_per_batch.n);
  for (auto& [key, group] : groups) chart.groups.push_back(std::move(group));
  if (expected) chart.expected_label = "if all time were attention: in proportion to its FLOPs";
  Figure figure{
      "timing.svg", {draw_bar_chart(chart)}, "time of a forward pass, intact, masked and with heads removed", ""};
  return {figure};
}

namespace {

/// A line for each label and seed; rows without a label are left out.
LineChart over_steps(const std::vector<TrainRow>& rows, const std::function<std::string(const TrainRow&)>& label) {
  std::set<int64_t> seeds;
  for (const TrainRow& row : rows) seeds.insert(row.seed);
  std::map<std::pair<std::string, int64_t>, LineSeries> lines;
  for (const TrainRow& row : rows) {
    const std::string name = label(row);
    if (name.empty()) continue;
    LineSeries& line = lines[{name, row.seed}];
    line.label = seeds.size() > 1 ? fmt::format("{}, seed {}", name, row.seed) : name;
    line.markers = false;
    line.points.push_back({static_cast<double>(row.step), row.value, {}, {}, ""});
  }
  LineChart chart;
  chart.x_label = "step";
  for (auto& [key, line] : lines) chart.series.push_back(std::move(line));
  return chart;
}

}  // namespace

std::vector<Figure> training_figures(const std::vector<TrainRow>& rows) {
  std::vector<Figure> figures;
  const auto add = [&](LineChart chart, const char* file, const char* about) {
    if (!chart.series.empty()) figures.push_back({file, {draw_line_chart(chart)}, about, ""});
  };
  LineChart loss = over_steps(
      rows, [](const TrainRow& row) { return row.name == "loss" && row.training.empty() ? row.split : std::string(); });
  loss.title = "Training";
  loss.y_label = "loss, as training and its evaluation log it";
  add(std::move(loss), "train-loss.svg", "training loss over steps");
  LineChart gates = over_steps(rows, [](const TrainRow& row) { return row.name == "open_heads" ? row.training : ""; });
  gates.title = "Gates that are learnt";
  gates.y_label = "expected number of open gates";
  add(std::move(gates), "gates.svg", "open gates while they are learnt, over steps");
  return figures;
}

}  // namespace headprune
