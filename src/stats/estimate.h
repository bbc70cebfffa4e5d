// A number with its uncertainty, and the paired comparison with the unpruned model (docs/definitions.md "Statistics").
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace headprune {

/// A metric on n examples. Non-finite values are kept as they are; whoever writes them says so.
struct Estimate {
  double value = 0;
  int64_t n = 0;
  std::optional<double> stderr_;  // absent where undefined
  std::optional<std::array<double, 2>> ci95;
  std::string interval;  // how ci95 was made: "wilson", "normal", "bca", "crossed", "t", "percentile"; empty without it
};

/// value - base; paired on the same examples, but for `welch`.
struct Difference {
  double delta = 0;
  std::optional<double> stderr_;
  std::optional<std::array<double, 2>> ci95;
  std::optional<double> p;  // two-sided
  /// What p is of: "mcnemar", "paired_bootstrap", "crossed_t", "paired_t", "sign_flip", "welch"; empty without a test.
  std::string test;
};

}  // namespace headprune
