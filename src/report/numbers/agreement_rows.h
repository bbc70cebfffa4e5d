// Rank agreement between methods on one model, and of one method between seeds (docs/formats.md section 8,
// docs/definitions.md "Agreement of rankings").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/journal.h"

namespace headprune {

/// A line of agreement.csv.
struct AgreementRow {
  std::string comparison;  // "methods", "seeds", "halves" (a method with itself on either half of the score split)
  std::string method_a, method_b;
  int64_t seed_a = 0, seed_b = 0, draw_a = 0, draw_b = 0;
  std::string kind = "all";      // or the block's kind
  std::optional<int64_t> layer;  // absent = all layers
  std::string statistic;
  std::optional<int64_t> k;  // of topk_jaccard
  std::optional<double> value, p;
  int64_t n = 0;  // heads
};

/// A method's agreement with itself says how stable its ranking is: over halves of the score split, each of which ranks
/// by half of the examples, and over seeds.
/// Scores of the intact model, random controls left out: their agreement with anything is chance by construction.
/// Methods are compared pairwise within a seed, a method with itself between seeds that were trained on from one model
/// (else a head's id means nothing in another seed); over all heads and per block.
/// Top-k over all heads is taken at every number of heads that a sweep over all kinds removes, and at half of the
/// heads; per block at half of its heads. p is exact where it can be, else over 2,000 orders that all comparisons
/// share, drawn from the first seed. `with_p` false: the statistics alone, in a fraction of the time.
std::vector<AgreementRow> agreement_rows(const Record& record, bool with_p = true);

/// Agreement rows that differ in seeds and draws only, as one.
struct AgreementGroup {
  AgreementRow first;
  std::vector<double> values;  // those that are defined
  double mean = 0;             // of `values`; 0 without any
  int64_t rows = 0;            // also those that are not defined
};
std::vector<AgreementGroup> agreement_groups(const std::vector<AgreementRow>& rows);

}  // namespace headprune
