// Every number of a run under its metric key (docs/formats.md section 1): what metrics.json, baselines and comparisons
// are made of.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/journal.h"
#include "report/agreement_rows.h"
#include "report/repetitions.h"

namespace headprune {

struct KeyedMetric {
  double value = 0;  // mean over draws and seeds; may be non-finite
  std::optional<double> stderr_;
  int64_t n = 0;                          // examples; heads for agreement; masks for surgery
  std::vector<double> seeds;              // one per seed, mean over its draws
  std::vector<Measurement> members = {};  // what it was made from: one a seed and draw
  std::string range = {};                 // of an area: the fractions that it covers
  bool of_head = false;                   // of one head, which another model may not have
  /// Which models and masks it is of, those of a seed and draw each: numbers that agree in it are one. Empty: of no
  /// mask.
  std::string of = {};
  bool one_order = false;  // of one random order of one model, which says nothing of others
};

/// Sorted by key. No timings: they are never gated.
std::map<std::string, KeyedMetric> keyed_metrics(const Record& record, const std::vector<AgreementRow>& agreement);

/// The last part of a key: "accuracy" of "curve/gradient_l1/one_shot/0.25/accuracy".
std::string metric_of_key(const std::string& key);

/// Which way a metric gets better. Agreement between methods has no better side: any move counts.
enum class Better { higher, lower, either };
const char* to_string(Better better);
Better better_side(const Record& record, const std::string& key);

}  // namespace headprune
