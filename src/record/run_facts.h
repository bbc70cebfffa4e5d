// What views need to know of a run beyond its numbers: the names, sizes and directions behind them. One journal event,
// "facts", written once the data are read and the model is built; the first attempt's and a later one's are equal.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/heads.h"
#include "core/json.h"
#include "record/split_summary.h"
#include "stats/metric_info.h"

namespace headprune {

struct MetricFact : MetricInfo {
  std::string signature = {};  // how it was computed, where it has more than one definition: sacreBLEU's signature
};

/// A score method: its label (column `method`), its plug-in name ("random" makes it the control) and its draws.
struct MethodFact {
  std::string label, type;
  int64_t draws = 1;
  std::string note = {};  // what a reader has to know of its options: "positions: all"
};

/// A role's data. With several seeds and generated data: those of the first seed.
struct SplitFact {
  std::string role;       // score, select, report
  std::string name;       // train, dev, test
  int64_t original = 0;   // examples in the source
  int64_t effective = 0;  // examples used, after `limit`
  std::string sha256;     // of the examples used
  std::string note;       // how it was made, where it was cut from another one; empty otherwise
};

/// What the models of different seeds have in common.
enum class SeedsDifferIn {
  nothing,      // a loaded model that is not trained: seeds draw other random orders, and that is all
  fine_tuning,  // trained on from one loaded model: a head's id means the same in all of them
  training,     // from scratch: a head's id in one model means nothing in another
};

struct RunFacts {
  std::string task;       // key in results.json: a short name of the data, "sst2"
  std::string task_type;  // plug-in name
  Json task_config = Json::object();
  std::vector<MetricFact> metrics;  // as asked for; tables and plots show the first
  std::string model;                // plug-in name
  std::string model_args;           // "d_model=64,layers=4,heads=4"
  std::string model_sha256;         // of the files of the model that was loaded; empty where none was
  Blocks blocks;                    // of the intact model
  std::vector<int64_t> seeds;
  SeedsDifferIn seeds_differ_in = SeedsDifferIn::training;
  std::vector<MethodFact> methods;  // in the order of the configuration
  std::vector<std::string> sweeps;  // labels, in the order of the configuration
  std::vector<std::string> tables;  // sensitivity tables, in the order of the configuration
  int64_t batch_size = 0;           // of evaluation
  std::string device = "cpu";
  std::optional<int64_t> limit;  // of the report split
  int64_t bootstrap_iters = 0;
  std::vector<std::string> formats = {"html", "md", "svg", "tensorboard"};  // views for people
  std::vector<SplitFact> splits;
  std::vector<std::array<std::string, 2>> shared_splits;  // pairs of roles with the same data
  std::vector<SplitSummary> summaries;                    // of each split that a role uses, training's too
  std::vector<std::string> label_notes;                   // labels of the data and outputs of a loaded classifier

  bool has_format(const std::string& format) const;
  /// "bleu: nrefs:1|case:mixed|...", one for each metric that has a signature.
  std::vector<std::string> signatures() const;
  Json to_json() const;
  /// Throws Error(run_failed) for another shape.
  static RunFacts from_json(const Json& json);
};

}  // namespace headprune
