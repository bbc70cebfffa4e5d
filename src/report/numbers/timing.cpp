#include "report/numbers/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/text.h"
#include "report/numbers/groups.h"
#include "stats/intervals.h"

namespace headprune {
namespace {

Spread spread_of(std::vector<double> values) {
  Spread spread;
  const Estimate estimate = mean_estimate(values);
  spread.mean = estimate.value;
  spread.stderr_ = estimate.stderr_;
  spread.n = estimate.n;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  spread.median = values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
  spread.min = values.front();
  spread.max = values.back();
  return spread;
}

auto sort_key(const TimingSummary& timing) {
  const PointResult empty;
  const PointResult& point = timing.point == nullptr ? empty : *timing.point;
  // "intact" < "masked" < "removed" by bytes already.
  return std::tuple(point.spec.sweep, point.spec.method, point.spec.seed, point.spec.draw.value_or(0), point.fraction,
                    timing.result->form, timing.result->batch_size, timing.result->sequence_length);
}

}  // namespace

std::vector<TimingSummary> timing_summaries(const Record& record) {
  std::vector<TimingSummary> summaries;
  for (const auto& [key, result] : record.timing) {
    if (result.seconds.empty()) continue;
    TimingSummary summary;
    summary.result = &result;
    const auto point = record.points.find(result.point);
    if (point != record.points.end()) summary.point = &point->second;
    // The intact model is the unpruned point, whichever mask it was timed for.
    if (summary.point != nullptr && result.form == "intact") {
      const PointResult* base = record.base(summary.point->spec);
      if (base != nullptr) summary.point = base;
    }
    std::vector<double> rates;
    for (const double seconds : result.seconds) rates.push_back(static_cast<double>(result.batch_size) / seconds);
    summary.seconds_per_batch = spread_of(result.seconds);
    summary.examples_per_second = spread_of(rates);
    const auto intact = record.timing.find({result.point, "intact", result.batch_size, result.sequence_length});
    if (intact != record.timing.end() && !intact->second.seconds.empty())
      summary.speed = spread_of(intact->second.seconds).median / summary.seconds_per_batch.median;
    summaries.push_back(summary);
  }
  std::stable_sort(summaries.begin(), summaries.end(),
                   [](const TimingSummary& a, const TimingSummary& b) { return sort_key(a) < sort_key(b); });
  return summaries;
}

std::string timed_mask_text(const Record& record, const TimingSummary& timing) {
  if (timing.point == nullptr) return "-";
  const PointSpec& spec = timing.point->spec;
  std::vector<std::string> parts;
  if (!spec.method.empty() || !spec.name.empty()) parts.push_back(spec.name.empty() ? spec.method : spec.name);
  if (spec.draw && is_random(record, spec.method)) parts.push_back(fmt::format("draw {}", *spec.draw));
  if (recorded_seeds(record).size() > 1) parts.push_back(fmt::format("seed {}", spec.seed));
  return join(parts, ", ");
}

std::string sides_sentence(const Record& record) {
  if (!record.facts) return "";
  const Blocks& blocks = record.facts->blocks;
  const bool two =
      std::any_of(blocks.begin(), blocks.end(), [](const BlockHeads& block) { return block.id.kind == Kind::cross; });
  return two ? " Source and target have this length alike." : "";
}

}  // namespace headprune
