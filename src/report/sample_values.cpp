#include "report/sample_values.h"

#include <cmath>

#include "core/error.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/text.h"
#include "record/events.h"
#include "record/run_folder.h"

namespace headprune {
namespace {

/// The point whose samples hold for this one: its own, or of the equal mask that was evaluated before.
const PointResult& source_of(const Record& record, const PointResult& point) {
  const PointResult* source = &point;
  for (size_t hops = 0; !source->same_as.empty() && hops <= record.points.size(); ++hops) {
    const auto found = record.points.find(source->same_as);
    if (found == record.points.end()) break;
    source = &found->second;
  }
  return *source;
}

std::optional<double> value_in(const Json& sample, const std::string& metric) {
  if (metric == "accuracy" && sample.contains("correct") && sample["correct"].is_boolean())
    return sample["correct"].get<bool>() ? 1.0 : 0.0;
  if (metric == "loss" && sample.contains("loss") && sample["loss"].is_number())
    return read_measurement(sample["loss"]);
  return std::nullopt;
}

}  // namespace

std::optional<SampleValues> sample_values(const std::filesystem::path& run_folder, const Record& record,
                                          const PointResult& point, const std::string& metric) {
  const MetricResult* recorded = point.metric(metric);
  const PointResult& source = source_of(record, point);
  if (source.samples_sha256.empty() || recorded == nullptr || (metric != "accuracy" && metric != "loss"))
    return std::nullopt;
  const fs::path path = run_folder / kSamples / (source.point + ".jsonl");
  if (!fs::exists(path)) return std::nullopt;  // a copy may come without them
  const std::string text = read_file(path);
  if (sha256(text) != source.samples_sha256)
    fail(ExitCode::run_failed, "{} is not the file that the journal names: its SHA-256 differs", path.string());
  SampleValues found;
  double sum = 0;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    const Json sample = parse_json(line, path.string());
    const std::optional<double> value = value_in(sample, metric);
    if (!value) return std::nullopt;
    found.ids.push_back(member_text(sample, "doc_id") + ' ' + member_text(sample, "doc_hash"));
    found.values.push_back(*value);
    sum += *value;
  }
  if (found.values.empty()) return std::nullopt;
  const double mean = sum / static_cast<double>(found.values.size());
  if (!(std::abs(mean - recorded->estimate.value) <= 1e-9 * std::max(1.0, std::abs(mean)))) return std::nullopt;
  return found;
}

}  // namespace headprune
