// Every number of a run under its metric key (docs/formats.md section 1): what metrics.json, baselines and comparisons
// are made of.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/journal.h"
#include "report/numbers/agreement_rows.h"
#include "report/numbers/repetitions.h"

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

/// A metric key (docs/formats.md section 1): the parts joined by '/', empty parts left out, characters outside
/// [A-Za-z0-9_.-] replaced by '_'.
std::string metric_key(const std::vector<std::string>& parts);
/// heads_removed / heads_total rounded to 6 decimals, trailing zeros cut: "0", "0.25", "1".
std::string fraction_text(int64_t heads_removed, int64_t heads_total);

/// Sorted by key. No timings: they are never gated.
std::map<std::string, KeyedMetric> keyed_metrics(const Record& record, const std::vector<AgreementRow>& agreement);

/// The last part of a key: "accuracy" of "curve/gradient_l1/one_shot/0.25/accuracy".
std::string metric_of_key(const std::string& key);

/// Which way a metric gets better. Agreement between methods has no better side: any move counts.
enum class Better { higher, lower, either };
const char* to_string(Better better);
Better better_side(const Record& record, const std::string& key);

}  // namespace headprune
