#include "record/split_summary.h"

#include <fmt/format.h>

#include "core/text.h"
#include "record/json_fields.h"

namespace headprune {

namespace {

constexpr size_t kShownLabels = 12;

Json lengths_json(const TextLengthSummary& lengths) {
  return {{"median", lengths.median},
          {"longest", lengths.longest},
          {"tokens", lengths.tokens},
          {"unknown", lengths.unknown}};
}

TextLengthSummary read_lengths(const Json& json) {
  return {.median = read_field<int64_t>(json, "median"),
          .longest = read_field<int64_t>(json, "longest"),
          .tokens = read_field<int64_t>(json, "tokens"),
          .unknown = read_field<int64_t>(json, "unknown")};
}

Json counts_json(const std::vector<std::pair<std::string, int64_t>>& counts, const char* key) {
  Json json = Json::array();
  for (const auto& [name, count] : counts) json.push_back({{key, name}, {"examples", count}});
  return json;
}

std::vector<std::pair<std::string, int64_t>> read_counts(const Json& json, const char* list, const char* key) {
  std::vector<std::pair<std::string, int64_t>> counts;
  if (!json.contains(list)) return counts;
  for (const Json& one : read_list(json, list))
    counts.emplace_back(read_field<std::string>(one, key), read_field<int64_t>(one, "examples"));
  return counts;
}

std::string percent(int64_t part, int64_t whole) {
  if (part == 0 || whole == 0) return "0 %";
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return share < 0.05 ? "under 0.1 %" : fmt::format("{:.1f} %", share);
}

std::string lengths_text(const TextLengthSummary& lengths) {
  return fmt::format("{} tokens at the median, {} at most, unknown {}", lengths.median, lengths.longest,
                     percent(lengths.unknown, lengths.tokens));
}

}  // namespace

Json SplitSummary::to_json() const {
  Json json = {{"roles", roles}, {"part", part}, {"examples", examples}, {"original", original}};
  if (!labels.empty()) json["labels"] = counts_json(labels, "label");
  write_optional(json, "numbers", numbers);
  json["texts"] = lengths_json(texts);
  if (targets) json["targets"] = lengths_json(*targets);
  json["repeated"] = repeated;
  json["contradicting"] = contradicting;
  if (!shared.empty()) json["shared"] = counts_json(shared, "part");
  return json;
}

SplitSummary SplitSummary::from_json(const Json& json) {
  SplitSummary summary;
  summary.roles = read_field<std::vector<std::string>>(json, "roles");
  summary.part = read_field<std::string>(json, "part");
  summary.examples = read_field<int64_t>(json, "examples");
  summary.original = read_field<int64_t>(json, "original");
  summary.labels = read_counts(json, "labels", "label");
  summary.numbers = read_optional<std::array<double, 3>>(json, "numbers");
  summary.texts = read_lengths(read_object(json, "texts"));
  if (json.contains("targets")) summary.targets = read_lengths(read_object(json, "targets"));
  summary.repeated = read_field<int64_t>(json, "repeated");
  summary.contradicting = read_field<int64_t>(json, "contradicting");
  summary.shared = read_counts(json, "shared", "part");
  return summary;
}

std::string SplitSummary::text() const {
  std::string line =
      fmt::format("{} ({} part): {} {}", join(roles, ", "), part, examples, examples == 1 ? "example" : "examples");
  if (examples < original) line += fmt::format(" of its {}", original);
  if (!labels.empty()) {
    std::vector<std::string> counts;
    for (const auto& [label, count] : labels) counts.push_back(fmt::format("{}: {}", label, count));
    line += fmt::format("; labels {}", join_some(counts, ", ", kShownLabels));
  }
  if (numbers)
    line += fmt::format("; numbers from {:.6g} to {:.6g}, mean {:.6g}", (*numbers)[0], (*numbers)[2], (*numbers)[1]);
  line += targets ? fmt::format("; source {}; target {}", lengths_text(texts), lengths_text(*targets))
                  : fmt::format("; {}", lengths_text(texts));
  line += fmt::format("; repeated {}", percent(repeated, examples));
  if (contradicting > 0) line += fmt::format(" ({} of them contradicting)", contradicting);
  bool alone = true;
  for (const auto& [other, count] : shared) {
    if (count > 0) line += fmt::format("; {} also in the {} part", percent(count, examples), other);
    alone = alone && count == 0;
  }
  if (alone && !shared.empty()) line += "; none in another part";
  return line;
}

}  // namespace headprune
