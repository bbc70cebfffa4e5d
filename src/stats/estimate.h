// A number with its uncertainty, and the paired comparison with the unpruned model (formats.md section 14).
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
  std::string interval;  // "wilson", "normal", "bca", "t"; empty without ci95
};

/// value - base, paired on the same examples.
struct Difference {
  double delta = 0;
  std::optional<double> stderr_;
  std::optional<std::array<double, 2>> ci95;
  std::optional<double> p;  // two-sided
  std::string test;         // "mcnemar", "paired_bootstrap"; empty where no test was possible
};

}  // namespace headprune
