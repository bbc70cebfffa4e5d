// How far a metric may move before `check` calls it a regression (docs/formats.md section 12).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace headprune {

/// What counts for one metric. A value is worse than allowed when it is worse than the baseline by more than
/// max(abs, rel * |baseline|), both in the metric's own units.
struct Tolerance {
  std::string direction = "auto";  // "auto", "higher" or "lower": which way is better
  double abs = 0;
  double rel = 0;        // 0.05 is 5 %
  bool exact = false;    // any difference is a regression
  bool exclude = false;  // not looked at

  double allowed(double base) const;
};

/// A rule of the command line.
struct PolicyRule {
  std::string pattern;
  Tolerance tolerance;
};

struct Policy {
  Tolerance fallback;                        // "default"
  std::map<std::string, Tolerance> metrics;  // by pattern

  /// The rule for a key: the last of `first` whose pattern matches, else the longest pattern that matches, else the
  /// default. A pattern matches the whole key or its metric; '*' stands for any characters, '/' included.
  const Tolerance& of(const std::string& key, const std::vector<PolicyRule>& first) const;

  /// Only what differs from the defaults.
  Json to_json() const;
  /// Throws Error(usage) naming `where`, the pattern and the field for anything that docs/formats.md section 12 does
  /// not allow.
  static Policy from_json(const Json& json, const std::string& where);
};

/// "accuracy:2%" or "curve/*/loss:0.05": relative or absolute. Throws Error(usage) for another form.
PolicyRule parse_policy_rule(const std::string& text);

/// '*' matches any characters.
bool pattern_matches(const std::string& pattern, const std::string& text);

}  // namespace headprune
