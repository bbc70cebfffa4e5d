#include "report/tensorboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/event_file.h"
#include "report/groups.h"
#include "report/heat_map.h"

namespace headprune {
namespace {

constexpr int64_t kCellPixels = 16;

std::string event_file_name(const Record& record) {
  const double started = record.started.empty() ? 0 : unix_seconds(record.started);
  return fmt::format("events.out.tfevents.{:010d}.{}.0.0", static_cast<int64_t>(started),
                     record.host.empty() ? "headprune" : record.host);
}

void add_curve_scalars(EventFile& file, const Record& record, double now) {
  for (const CurveGroup& curve : curve_groups(record)) {
    for (const PointGroup& point : curve.points) {
      const PointResult& first = point.first();
      const EventPlace place{now, first.spec.heads_removed};
      for (const MetricSummary& metric : point.metrics) {
        const std::string tag = fmt::format("sweep/{}/{}/{}", curve.method, curve.sweep, metric.name);
        file.scalar(tag, place, metric.estimate.value);
        if (!metric.estimate.ci95) continue;
        file.scalar(tag + "_lo", place, (*metric.estimate.ci95)[0]);
        file.scalar(tag + "_hi", place, (*metric.estimate.ci95)[1]);
      }
    }
  }
}

/// The change that each head alone makes to the headline metric; the step is the head.
void add_sensitivity_scalars(EventFile& file, const Record& record, double now) {
  const std::string metric = headline_metric(record);
  for (const PointGroup& group : sensitivity_groups(record)) {
    const PointSpec& spec = group.first().spec;
    const MetricSummary* summary = group.metric(metric);
    if (spec.table != "leave_one_out" || summary == nullptr || !summary->difference || !spec.layer) continue;
    file.scalar(fmt::format("sensitivity/{}.L{}", spec.kind, *spec.layer), {now, spec.head.value_or(0)},
                summary->difference->delta);
  }
}

/// One picture a method: layers down, heads across, of the first seed and draw.
void add_scores(EventFile& file, const Record& record, double now) {
  std::set<std::string> seen;
  for (const auto& [key, score] : record.scores) {
    if (!key.sweep.empty() || score.blocks.empty() || !seen.insert(key.method).second) continue;
    double low = 0, high = 0;
    int64_t columns = 0;
    bool first = true;
    for (const auto& [id, block] : score.blocks) {
      file.histogram(fmt::format("importance/{}/{}", key.method, to_string(id)), {now, 0}, block.scores);
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
    file.image("importance/heatmap/" + key.method, {now, 0}, pixels);
  }
}

std::string training_tag(const TrainRow& row) {
  if (row.name == "examples_per_second") return "perf/examples_per_s";
  if (row.split != "train") return "eval/" + row.name;
  return "train/" + (row.name == "learning_rate" ? std::string("lr") : row.name);
}

}  // namespace

std::map<std::string, std::string> tensorboard_files(const ReportInput& input) {
  const Record& record = input.record;
  const double now = record.started.empty() ? 0 : unix_seconds(record.started);
  const std::string name = event_file_name(record);
  EventFile main(now);
  std::map<int64_t, EventFile> seeds;
  const bool several = recorded_seeds(record).size() > 1;
  for (const TrainRow& row : input.training) {
    EventFile& file = several ? seeds.try_emplace(row.seed, now).first->second : main;
    file.scalar(training_tag(row), {unix_seconds(row.t), row.step}, row.value);
  }
  add_curve_scalars(main, record, now);
  add_sensitivity_scalars(main, record, now);
  add_scores(main, record, now);
  if (!input.config_yaml.empty()) main.text("config/text_summary", {now, 0}, "```yaml\n" + input.config_yaml + "```\n");
  std::map<std::string, std::string> files = {{name, main.bytes()}};
  for (const auto& [seed, file] : seeds) files[fmt::format("seed-{}/{}", seed, name)] = file.bytes();
  return files;
}

}  // namespace headprune
