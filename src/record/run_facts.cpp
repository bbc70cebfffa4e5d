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
    BlockId id{parse_kind(block.at("kind").get<std::string>()), block.at("layer").get<int64_t>()};
    blocks.push_back(
        {id, block.at("heads").get<std::vector<int64_t>>(), read_or<int64_t>(block, "heads_per_group", 1)});
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
  MetricInfo metric{.name = json.at("name").get<std::string>(),
                    .higher_is_better = json.at("higher_is_better").get<bool>(),
                    .range = {},
                    .unit = read_or<std::string>(json, "unit", "")};
  if (!json.contains("range")) {
    metric.range = unrecorded_range(metric.name);
    metric.proportion = metric.name == "accuracy";
    return metric;
  }
  const Json& range = json.at("range");
  if (!range.at(0).is_null()) metric.range.low = range.at(0).get<double>();
  if (!range.at(1).is_null()) metric.range.high = range.at(1).get<double>();
  metric.proportion = json.at("proportion").get<bool>();
  return metric;
}

RunFacts read_facts(const Json& json) {
  RunFacts facts;
  facts.task = json.at("task").get<std::string>();
  facts.task_type = json.at("task_type").get<std::string>();
  facts.task_config = json.at("task_config");
  for (const Json& metric : json.at("metrics")) {
    facts.metrics.push_back({read_metric(metric), read_or<std::string>(metric, "signature", "")});
  }
  facts.model = json.at("model").get<std::string>();
  facts.model_args = json.at("model_args").get<std::string>();
  facts.model_sha256 = read_or<std::string>(json, "model_sha256", "");
  facts.blocks = read_blocks(json.at("blocks"));
  facts.seeds = json.at("seeds").get<std::vector<int64_t>>();
  facts.seeds_differ_in = read_seeds_differ_in(read_or<std::string>(json, "seeds_differ_in", "training"));
  for (const Json& method : json.at("methods")) {
    facts.methods.push_back({method.at("label").get<std::string>(), method.at("type").get<std::string>(),
                             method.at("draws").get<int64_t>(), read_or<std::string>(method, "note", "")});
  }
  facts.sweeps = json.at("sweeps").get<std::vector<std::string>>();
  facts.tables = json.at("tables").get<std::vector<std::string>>();
  facts.batch_size = json.at("batch_size").get<int64_t>();
  facts.device = json.at("device").get<std::string>();
  if (!json.at("limit").is_null()) facts.limit = json.at("limit").get<int64_t>();
  facts.bootstrap_iters = json.at("bootstrap_iters").get<int64_t>();
  if (json.contains("formats")) facts.formats = json.at("formats").get<std::vector<std::string>>();
  for (const Json& split : json.at("splits")) {
    facts.splits.push_back({split.at("role").get<std::string>(), split.at("name").get<std::string>(),
                            split.at("original").get<int64_t>(), split.at("effective").get<int64_t>(),
                            split.at("sha256").get<std::string>(), split.at("note").get<std::string>()});
  }
  for (const Json& pair : json.at("shared_splits")) {
    facts.shared_splits.push_back({pair.at(0).get<std::string>(), pair.at(1).get<std::string>()});
  }
  for (const Json& summary : json.value("summaries", Json::array()))
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

RunFacts RunFacts::from_json(const Json& json) {
  try {
    return read_facts(json);
  } catch (const nlohmann::json::exception& error) {
    fail(ExitCode::run_failed, "the journal's `facts` event cannot be understood: {}", error.what());
  }
}

}  // namespace headprune
