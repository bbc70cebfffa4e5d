#include "record/run_facts.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "record/json_fields.h"

namespace headprune {
namespace {

Json blocks_json(const Blocks& blocks) {
  Json json = Json::array();
  for (const BlockHeads& block : blocks) {
    json.push_back({{"kind", to_string(block.id.kind)}, {"layer", block.id.layer}, {"heads", block.heads}});
    if (block.heads_per_group > 1) json.back()["heads_per_group"] = block.heads_per_group;
  }
  return json;
}

Blocks read_blocks(const Json& json) {
  Blocks blocks;
  for (const Json& block : json) {
    const BlockId id = read_block(block);
    if (std::any_of(blocks.begin(), blocks.end(), [&](const BlockHeads& one) { return one.id == id; }))
      fail(ExitCode::run_failed, "{} is listed twice", to_string(id));
    blocks.push_back({id, read_heads(block, "heads"), read_or<int64_t>(block, "heads_per_group", 1)});
    if (blocks.back().heads_per_group < 1)
      fail(ExitCode::run_failed, "{} has groups of {} heads", to_string(id), blocks.back().heads_per_group);
  }
  return blocks;
}

constexpr std::array<const char*, 3> kSeedsDifferIn = {"nothing", "fine_tuning", "training"};

SeedsDifferIn read_seeds_differ_in(const std::string& word) {
  for (size_t i = 0; i < kSeedsDifferIn.size(); ++i)
    if (word == kSeedsDifferIn[i]) return static_cast<SeedsDifferIn>(i);
  fail(ExitCode::run_failed, "'{}' is nothing that seeds can differ in", word);
}

Json end_json(double end) { return std::isfinite(end) ? Json(end) : Json(nullptr); }

Json metric_json(const MetricInfo& metric) {
  Json json = {{"name", metric.name},
               {"higher_is_better", metric.higher_is_better},
               {"range", {end_json(metric.range.low), end_json(metric.range.high)}},
               {"proportion", metric.proportion}};
  write_text(json, "unit", metric.unit);
  return json;
}

/// Runs did not always record the range: that of the metrics that there were then.
MetricRange unrecorded_range(const std::string& name) {
  if (name == "accuracy" || name == "f1") return {0, 1};
  if (name == "matthews" || name == "pearson" || name == "spearman") return {-1, 1};
  if (name == "bleu" || name == "chrf") return {0, 100};
  return {.low = name == "perplexity" ? 1.0 : 0.0};
}

MetricInfo read_metric(const Json& json) {
  MetricInfo metric{.name = read_field<std::string>(json, "name"),
                    .higher_is_better = read_field<bool>(json, "higher_is_better"),
                    .range = {},
                    .unit = read_or<std::string>(json, "unit", "")};
  if (!json.contains("range")) {
    metric.range = unrecorded_range(metric.name);
    metric.proportion = metric.name == "accuracy";
    return metric;
  }
  const auto end = [](const Json& value, double& into) {
    if (!value.is_null() && !value.is_number()) fail(ExitCode::run_failed, "the end of a range is no number");
    if (value.is_number()) into = value.get<double>();
  };
  const Json& range = read_list(json, "range");
  if (range.size() != 2) fail(ExitCode::run_failed, "the field 'range' must be two numbers");
  end(range[0], metric.range.low);
  end(range[1], metric.range.high);
  metric.proportion = read_field<bool>(json, "proportion");
  return metric;
}

RunFacts read_facts(const Json& json) {
  RunFacts facts;
  facts.task = read_field<std::string>(json, "task");
  facts.task_type = read_field<std::string>(json, "task_type");
  facts.task_config = read_member(json, "task_config");
  for (const Json& metric : read_list(json, "metrics")) {
    facts.metrics.push_back({read_metric(metric), read_or<std::string>(metric, "signature", "")});
  }
  facts.model = read_field<std::string>(json, "model");
  facts.model_args = read_field<std::string>(json, "model_args");
  facts.model_sha256 = read_or<std::string>(json, "model_sha256", "");
  facts.blocks = read_blocks(read_list(json, "blocks"));
  facts.seeds = read_field<std::vector<int64_t>>(json, "seeds");
  facts.seeds_differ_in = read_seeds_differ_in(read_or<std::string>(json, "seeds_differ_in", "training"));
  for (const Json& method : read_list(json, "methods")) {
    facts.methods.push_back({read_label(method, "label"), read_field<std::string>(method, "type"),
                             read_field<int64_t>(method, "draws"), read_or<std::string>(method, "note", "")});
  }
  facts.sweeps = read_field<std::vector<std::string>>(json, "sweeps");
  facts.tables = read_field<std::vector<std::string>>(json, "tables");
  facts.batch_size = read_field<int64_t>(json, "batch_size");
  facts.device = read_field<std::string>(json, "device");
  facts.limit = read_optional<int64_t>(json, "limit");
  facts.bootstrap_iters = read_field<int64_t>(json, "bootstrap_iters");
  if (json.contains("formats")) facts.formats = read_field<std::vector<std::string>>(json, "formats");
  for (const Json& split : read_list(json, "splits")) {
    facts.splits.push_back({read_field<std::string>(split, "role"), read_field<std::string>(split, "name"),
                            read_field<int64_t>(split, "original"), read_field<int64_t>(split, "effective"),
                            read_field<std::string>(split, "sha256"), read_field<std::string>(split, "note")});
  }
  using Pair = std::array<std::string, 2>;
  for (const Pair& pair : read_field<std::vector<Pair>>(json, "shared_splits"))
    facts.shared_splits.push_back({pair[0], pair[1]});
  if (json.contains("summaries"))
    for (const Json& summary : read_list(json, "summaries"))
      facts.summaries.push_back(SplitSummary::from_json(summary));
  facts.label_notes = read_or<std::vector<std::string>>(json, "label_notes", {});
  return facts;
}

}  // namespace

bool RunFacts::has_format(const std::string& format) const {
  return std::find(formats.begin(), formats.end(), format) != formats.end();
}

std::vector<std::string> RunFacts::signatures() const {
  std::vector<std::string> lines;
  for (const MetricFact& metric : metrics)
    if (!metric.signature.empty()) lines.push_back(metric.name + ": " + metric.signature);
  return lines;
}

Json RunFacts::to_json() const {
  Json json;
  json["task"] = task;
  json["task_type"] = task_type;
  json["task_config"] = task_config;
  json["metrics"] = Json::array();
  for (const MetricFact& metric : metrics) {
    json["metrics"].push_back(metric_json(metric));
    write_text(json["metrics"].back(), "signature", metric.signature);
  }
  json["model"] = model;
  json["model_args"] = model_args;
  write_text(json, "model_sha256", model_sha256);
  json["blocks"] = blocks_json(blocks);
  json["seeds"] = seeds;
  json["seeds_differ_in"] = kSeedsDifferIn[static_cast<size_t>(seeds_differ_in)];
  json["methods"] = Json::array();
  for (const MethodFact& method : methods) {
    json["methods"].push_back({{"label", method.label}, {"type", method.type}, {"draws", method.draws}});
    write_text(json["methods"].back(), "note", method.note);
  }
  json["sweeps"] = sweeps;
  json["tables"] = tables;
  json["batch_size"] = batch_size;
  json["device"] = device;
  json["limit"] = limit ? Json(*limit) : Json(nullptr);
  json["bootstrap_iters"] = bootstrap_iters;
  json["formats"] = formats;
  json["splits"] = Json::array();
  for (const SplitFact& split : splits) {
    json["splits"].push_back({{"role", split.role},
                              {"name", split.name},
                              {"original", split.original},
                              {"effective", split.effective},
                              {"sha256", split.sha256},
                              {"note", split.note}});
  }
  json["shared_splits"] = shared_splits;
  if (!summaries.empty()) json["summaries"] = Json::array();
  for (const SplitSummary& summary : summaries) json["summaries"].push_back(summary.to_json());
  if (!label_notes.empty()) json["label_notes"] = label_notes;
  return json;
}

RunFacts RunFacts::from_json(const Json& json) { return read_facts(json); }

}  // namespace headprune
