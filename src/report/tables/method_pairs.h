// Method against method at equal heads, on the same examples (docs/definitions.md "Method against
// method").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/numbers/contest.h"
#include "report/numbers/sweeps.h"
#include "report/text/csv.h"
#include "report/text/text_table.h"

namespace headprune {

/// The metric without so many heads by `method_a`, less that by `method_b`.
struct MethodPair {
  std::string method_a, method_b;
  int64_t heads_removed = 0, heads_total = 0;
  std::string metric;
  /// One model: as a pruned one against the intact one (exact McNemar test for accuracy, else "paired_t"). Several
  /// seeds: the interval crosses seeds and examples, and p is of the sign-flip test over seeds where their number lets
  /// it fall below 0.05 (six); below that `test` is empty.
  Difference difference;
  std::optional<double> q;  // Benjamini-Hochberg over all pairs and numbers of heads that were asked for
  int64_t n = 0, seeds = 1;
};

/// The methods of a sweep, without random orders, which have their own comparison.
std::vector<NamedCurve> methods_of(const Sweep& sweep);

/// Every pair of these curves at every number of heads that both have, none and all left out. Points whose values by
/// example were not kept are left out.
std::vector<MethodPair> method_pairs(const Record& record, const std::vector<NamedCurve>& curves,
                                     const std::string& metric);

/// Pairs down, fractions across; * where q < 0.05.
TextRows method_pair_rows(const std::vector<MethodPair>& pairs);
/// What the stars mean, or that no test was possible, and what could have got one.
std::string method_pair_note(const Record& record, const std::vector<MethodPair>& pairs);

/// methods.csv: all sweeps and metrics, one comparison a row; then, without a sweep, those between sweeps.
std::string methods_csv(const Record& record);

}  // namespace headprune
