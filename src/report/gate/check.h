// The gate: a run held against a baseline, key by key over the union of both (docs/formats.md section 12).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/gate/baseline.h"

namespace headprune {

struct CheckOptions {
  std::vector<PolicyRule> rules;      // of the command line, before the baseline's
  bool tolerate_fingerprint = false;  // needs a tolerance above zero for every key
};

struct KeyVerdict {
  std::string key;
  std::string verdict;  // ok improved regressed missing new nonfinite incomparable excluded
  std::optional<KeyedMetric> value, base;
  double tolerance = 0;  // allowed move for the worse, in the metric's units
  Better better = Better::either;
  std::optional<double> p;
  std::string test;  // "sign_flip"; empty where none was possible
  std::string note;

  bool failed() const { return verdict == "regressed" || verdict == "missing" || verdict == "nonfinite"; }
  /// How far it is worse than the baseline; negative when better. 0 without both values.
  double worse_by() const;
};

struct CheckResult {
  std::string name;           // of the experiment
  std::string run, baseline;  // as given on the command line
  std::string verdict;        // ok regression baseline_missing incomparable incomplete
  ExitCode code = ExitCode::ok;
  std::vector<std::string> reasons;      // why it is not ok, and what was tolerated; sentences
  std::vector<KeyVerdict> metrics;       // by key
  int64_t compared = 0;                  // ok, improved or regressed
  std::map<std::string, int64_t> lines;  // of the baseline file, by key

  std::map<std::string, int64_t> counts() const;  // by verdict
  /// What failed, worst first: missing and non-finite ones, then by how far they exceed what is allowed.
  std::vector<const KeyVerdict*> failures() const;
};

/// Precedence when several apply: incomparable (12), incomplete (13), regression (10). Throws Error(usage) when a
/// fingerprint is to be tolerated and a key has no tolerance.
CheckResult check_run(const Record& record, const Baseline& baseline, const CheckOptions& options);

/// The result when there is no baseline (11): says how to make one.
CheckResult without_baseline(const std::string& run, const std::string& baseline);

}  // namespace headprune
