#include "report/tensorboard/tensorboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/hash.h"
#include "report/draw/heat_map.h"
#include "report/numbers/areas.h"
#include "report/numbers/groups.h"
#include "report/numbers/repetitions.h"

namespace headprune {
namespace {

constexpr int64_t kCellPixels = 16;

std::string sweep_tag(const CurveGroup& curve, const std::string& metric) {
  return fmt::format("sweep/{}/{}/{}", curve.name(), curve.sweep, metric);
}

/// How far the first sweep has got; its steps are those of all curves.
void add_progress(EventFile& file, const CurveGroup& curve, double now) {
  for (const PointGroup& point : curve.points) {
    const PointResult& first = point.first();
    const EventPlace place{now, first.spec.heads_removed};
    file.scalar("prune/heads_remaining", place, static_cast<double>(first.heads_total - first.spec.heads_removed));
    file.scalar("prune/fraction", place, first.fraction);
  }
}

void add_estimate(EventFile& file, const EventPlace& place, const std::string& tag, const Estimate& estimate) {
  file.scalar(tag, place, estimate.value);
  if (!estimate.ci95) return;
  file.scalar(tag + "_lo", place, (*estimate.ci95)[0]);
  file.scalar(tag + "_hi", place, (*estimate.ci95)[1]);
}

void add_curve_scalars(EventFile& file, const Record& record, double now) {
  const std::vector<CurveGroup> curves = curve_groups(record);
  if (!curves.empty()) add_progress(file, curves.front(), now);
  std::set<std::string> sweeps;
  for (const CurveGroup& curve : curves) {
    sweeps.insert(curve.sweep);
    for (const PointGroup& point : curve.points)
      for (const MetricSummary& metric : point.metrics)
        add_estimate(file, {now, point.first().spec.heads_removed}, sweep_tag(curve, metric.name), metric.estimate);
  }
  // The step of a control is its fine-tuning steps, of a mask the heads that it removes.
  for (const std::string& sweep : sweeps)
    for (const PointGroup& point : control_groups(record, sweep))
      for (const MetricSummary& metric : point.metrics)
        add_estimate(file, {now, *point.first().spec.control_steps}, fmt::format("control/{}/{}", sweep, metric.name),
                     metric.estimate);
  for (const MaskList& list : mask_lists(record))
    for (const PointGroup& point : list.points)
      for (const MetricSummary& metric : point.metrics)
        add_estimate(file, {now, point.first().spec.heads_removed},
                     fmt::format("mask/{}/{}{}/{}", list.sweep, list.seed ? fmt::format("seed_{}/", *list.seed) : "",
                                 point.first().spec.name, metric.name),
                     metric.estimate);
}

/// The change that each head alone makes to the headline metric; the step is the head.
void add_sensitivity_scalars(EventFile& file, const Record& record, double now) {
  const std::string metric = headline_metric(record);
  for (const PointGroup& group : sensitivity_groups(record)) {
    const PointSpec& spec = group.first().spec;
    const MetricSummary* summary = group.metric(metric);
    if (spec.shown() != Shown::heads || summary == nullptr || !summary->difference || !spec.layer) continue;
    const std::string seed = group.seed ? fmt::format("seed-{}/", *group.seed) : "";
    file.scalar(fmt::format("{}sensitivity/{}.L{}", seed, spec.kind, *spec.layer),
                {now, spec.head.value_or(spec.group.value_or(0))}, summary->difference->delta);
  }
}

/// One picture a method, and a seed where seeds have models of their own: layers down, heads across, of the first draw.
void add_scores(EventFile& file, const Record& record, double now) {
  std::set<std::string> seen;
  const bool by_seed = seeds_differ(record) && recorded_seeds(record).size() > 1;
  for (const auto& [key, score] : record.scores) {
    const std::string seed = by_seed ? fmt::format("seed-{}/", key.seed) : "";
    if (!key.sweep.empty() || score.blocks.empty() || !seen.insert(seed + key.method).second) continue;
    double low = 0, high = 0;
    int64_t columns = 0;
    bool first = true;
    for (const auto& [id, block] : score.blocks) {
      file.histogram(fmt::format("{}importance/{}/{}", seed, key.method, to_string(id)), {now, 0}, block.scores);
      for (size_t i = 0; i < block.scores.size(); ++i) {
        columns = std::max(columns, block.heads[i] + 1);
        low = first ? block.scores[i] : std::min(low, block.scores[i]);
        high = first ? block.scores[i] : std::max(high, block.scores[i]);
        first = false;
      }
    }
    Pixels pixels{columns * kCellPixels, static_cast<int64_t>(score.blocks.size()) * kCellPixels, {}};
    pixels.colours.assign(static_cast<size_t>(pixels.width * pixels.height), 0xffffffu);
    int64_t row = 0;
    for (const auto& [id, block] : score.blocks) {
      for (size_t i = 0; i < block.scores.size(); ++i) {
        const uint32_t colour = sequential_colour(high > low ? (block.scores[i] - low) / (high - low) : 0.5);
        for (int64_t y = row * kCellPixels; y < (row + 1) * kCellPixels; ++y) {
          for (int64_t x = block.heads[i] * kCellPixels; x < (block.heads[i] + 1) * kCellPixels; ++x)
            pixels.colours[static_cast<size_t>(y * pixels.width + x)] = colour;
        }
      }
      ++row;
    }
    file.image(fmt::format("{}importance/heatmap/{}", seed, key.method), {now, 0}, pixels);
  }
}

/// One chart a sweep and metric, all methods in it.
std::vector<BandChart> band_charts(const Record& record) {
  std::vector<BandChart> charts;
  for (const CurveGroup& curve : curve_groups(record)) {
    for (const MetricSummary& metric : curve.points.front().metrics) {
      const auto same = [&](const BandChart& chart) {
        return chart.category == curve.sweep && chart.title == metric.name;
      };
      const auto found = std::find_if(charts.begin(), charts.end(), same);
      const std::string tag = sweep_tag(curve, metric.name);
      if (found != charts.end())
        found->tags.push_back(tag);
      else
        charts.push_back({curve.sweep, metric.name, {tag}});
    }
  }
  std::stable_sort(charts.begin(), charts.end(),
                   [](const BandChart& a, const BandChart& b) { return a.category < b.category; });
  return charts;
}

/// What makes no difference to what was computed, or only repeats it.
bool is_circumstance(const std::string& key) {
  for (const char* section : {"name", "seeds", "output", "report", "check", "runtime", "schema_version", "x-"}) {
    if (key.rfind(section, 0) == 0) return true;
  }
  return false;
}

void add_session(EventFile& file, const ReportInput& input, double now) {
  const Record& record = input.record;
  SessionFacts session;
  session.started = now;
  session.ended = record.ended.empty() ? now : unix_seconds(record.ended);
  session.succeeded = record.state() == "completed";
  std::string group;
  for (const auto& [key, text] : flat_config(input.config_yaml)) {
    session.parameters[key] = text;
    if (!is_circumstance(key)) group += key + "=" + text + "\n";
  }
  session.group = sha256(group);
  if (const std::optional<PointGroup> base = base_group(record)) {
    for (const MetricSummary& metric : base->metrics) {
      session.metrics.push_back("base/" + metric.name);
      file.scalar(session.metrics.back(), {now, 0}, metric.estimate.value);
    }
  }
  for (const CurveGroup& curve : curve_groups(record)) {
    for (const AreaSummary& area : curve_areas(record, curve)) {
      session.metrics.push_back(fmt::format("auc/{}/{}/{}", curve.name(), curve.sweep, area.metric));
      file.scalar(session.metrics.back(), {now, 0}, area.estimate.value);
    }
  }
  file.hparams(session);
}

}  // namespace

std::string training_tag(const TrainRow& row) {
  const std::string of = row.training.empty() ? "" : row.training + "/";
  if (row.split != "train") return of + "eval/" + row.name;
  return of + "train/" + (row.name == "learning_rate" ? std::string("lr") : row.name);
}

void add_results(EventFile& file, const ReportInput& input) {
  const Record& record = input.record;
  const double now = record.started.empty() ? 0 : unix_seconds(record.started);
  add_curve_scalars(file, record, now);
  add_sensitivity_scalars(file, record, now);
  add_scores(file, record, now);
  file.layout(band_charts(record));
  if (input.config_yaml.empty()) return;
  file.text("config/text_summary", {now, 0}, "```yaml\n" + input.config_yaml + "```\n");
  add_session(file, input, now);
}

std::map<std::string, std::string> tensorboard_files(const ReportInput& input) {
  const Record& record = input.record;
  const double now = record.started.empty() ? 0 : unix_seconds(record.started);
  const std::string name = event_file_name({now, record.host, 0, 0});
  EventFile main(now);
  std::map<int64_t, EventFile> seeds;
  const bool several = recorded_seeds(record).size() > 1;
  for (const TrainRow& row : input.training) {
    EventFile& file = several ? seeds.try_emplace(row.seed, now).first->second : main;
    file.scalar(training_tag(row), {unix_seconds(row.t), row.step}, row.value);
  }
  add_results(main, input);
  std::map<std::string, std::string> files = {{name, main.bytes()}};
  for (const auto& [seed, file] : seeds) files[fmt::format("seed-{}/{}", seed, name)] = file.bytes();
  return files;
}

std::string event_file_name(const EventFileName& name) {
  return fmt::format("events.out.tfevents.{:010d}.{}.{}.{}", static_cast<int64_t>(name.started),
                     name.host.empty() ? "headprune" : name.host, name.process, name.attempt);
}

}  // namespace headprune
