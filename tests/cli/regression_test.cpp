// Task `regression` through the real binary: the whole flow, and what it refuses.
#include <regex>

#include "cli/program.h"
#include "core/json.h"
#include "core/text.h"
#include "record/framed_log.h"
#include "record/run_folder.h"
#include "support/catch.h"

namespace headprune {

namespace {

std::string regression_yaml() {
  std::string yaml = kSmallExperiment;
  yaml = std::regex_replace(yaml, std::regex("task: .*"),
                            "task: {type: regression, metrics: [pearson, spearman, loss, mae]}");
  yaml = std::regex_replace(
      yaml, std::regex("methods: \\[gradient_l1, output_l2, entropy,"),
      "methods: [gradient_l1, {gradient_l1: {label: token, preset: michel_code}}, {gradient_l1: "
      "{label: weights, of: weights}}, {gradient_l1: {label: rise, absolute: signed}}, output_l2, entropy,");
  yaml = std::regex_replace(yaml, std::regex("seeds: .*"), "seeds: [1]\noutput: {samples: true}");
  return yaml;
}

}  // namespace

TEST_CASE("regression goes through the whole flow, every score included", "[cli]") {
  const TestFolder scratch;
  write_file(scratch / "number.yaml", regression_yaml());
  const Finished finished = headprune_in(scratch.path(), {"run", "number.yaml"});
  INFO(finished.err);
  REQUIRE(finished.code == 0);
  CHECK(finished.out.find("regression") != std::string::npos);
  const fs::path run = scratch / "runs/small";
  std::string base;
  size_t points = 0;
  for (const Json& event : read_framed(run / kJournal).lines) {
    if (event["ev"] == "surgery") CHECK(event["ok"] == true);
    if (event["ev"] != "point_done" || event.contains("same_as")) continue;
    ++points;
    for (const char* metric : {"pearson", "spearman", "loss", "mae"}) {
      INFO(metric);
      const Json& measured = event["metrics"][metric];
      CHECK(measured["value"].is_number());
      // A model without heads says the same of every example: a correlation of 0 that has no interval.
      if (measured.contains("ci95"))
        CHECK(measured["ci95"].size() == 2);
      else
        CHECK(measured["value"] == 0.0);
      CHECK(measured.contains("delta") == (event["spec"]["rule"] != "none"));
    }
    CHECK(event["n"] == 80);
    if (event["spec"]["rule"] == "none") base = event["point"];
  }
  CHECK(points > 10);
  REQUIRE_FALSE(base.empty());
  // The samples say what the metrics are made of.
  double squares = 0;
  int64_t count = 0;
  const std::string samples = read_file(run / kSamples / (base + ".jsonl"));
  for (const std::string_view line : split(samples, '\n')) {
    if (line.empty()) continue;
    const Json sample = parse_json(line, "samples");
    const double error = sample["pred"].get<double>() - sample["target"].get<double>();
    CHECK(error * error == Approx(sample["loss"].get<double>()).epsilon(1e-5));
    squares += error * error;
    ++count;
  }
  CHECK(count == 80);
  const Json metrics = parse_json(read_file(run / "metrics.json"), "metrics.json");
  CHECK(dump_json(metrics).find("base/pearson") != std::string::npos);
  CHECK(squares > 0);
  // The model folder has one output, and is loaded for the same task only.
  CHECK(parse_json(read_file(run / "model/config.json"), "config")["outputs"] == 1);
  std::string yaml = regression_yaml();
  yaml = std::regex_replace(yaml, std::regex("model: \\{[^}]*\\}"),
                            "model: {type: encoder, init: load, path: runs/small/model}");
  write_file(scratch / "loaded.yaml", yaml);
  CHECK(headprune_in(scratch.path(), {"run", "loaded.yaml", "--smoke", "--out", "loaded"}).code == 0);
  write_file(scratch / "other.yaml", std::regex_replace(yaml, std::regex("task: .*"), "task: {type: classification}"));
  const Finished other = headprune_in(scratch.path(), {"run", "other.yaml", "--smoke", "--out", "other"});
  CHECK(other.code == 4);
  CHECK(other.err.find("the model has one output, for regression") != std::string::npos);
}

TEST_CASE("regression refuses text that is no number, and what only labels have", "[cli]") {
  const TestFolder scratch;
  fs::create_directory(scratch / "data");
  for (const char* name : {"train.tsv", "dev.tsv", "test.tsv"})
    write_file(scratch / "data" / name, "good film\t4.5\nbad film\tlow\n");
  const std::string tsv =
      std::regex_replace(regression_yaml(), std::regex("data: .*"), "data: {type: tsv, path: data}");
  write_file(scratch / "tsv.yaml", tsv);
  const Finished text = headprune_in(scratch.path(), {"run", "tsv.yaml"});
  CHECK(text.code == 4);
  CHECK(text.err.find("train.tsv:2: 'low' in column '1' is not a number") != std::string::npos);
  const Finished smoothed = headprune_in(scratch.path(), {"validate", "tsv.yaml", "train.label_smoothing_factor=0.1"});
  CHECK(smoothed.code == 2);
  CHECK(smoothed.err.find("a number has no other labels") != std::string::npos);
  CHECK_FALSE(fs::exists(scratch / "runs"));
}

}  // namespace headprune
