// The file that `check` holds a run against, expected.json beside the experiment (docs/formats.md section 12).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/journal.h"
#include "report/gate/policy.h"
#include "report/numbers/keyed_metrics.h"

namespace headprune {

struct BaselineChange {
  std::string date, reason, by;
  std::optional<std::string> prev_sha256;  // of the file it replaced
};

struct Baseline {
  std::string name, created, tool, experiment_id;
  std::map<std::string, std::string> data_sha256;  // by role: of the examples used
  std::optional<std::string> model_sha256;         // of a loaded model's files; absent without one, or not known
  Json fingerprint = Json::object();
  Policy policy;
  std::map<std::string, KeyedMetric> metrics;
  std::vector<BaselineChange> history;
  std::map<std::string, int64_t> lines;  // of each metric in the file, from 1; empty for one just made

  /// Sorted keys, one metric and one change a line, so that a diff can be reviewed.
  std::string text() const;
};

/// Strict. Throws Error(usage) naming `where` and the place for another shape, an unknown key or a newer schema.
Baseline parse_baseline(const std::string& text, const std::string& where);

struct BaselineUpdate {
  std::string name;    // of the experiment
  std::string reason;  // why the expected values changed
  std::string by;      // who says so
  std::string now;     // time
};

/// The baseline that a run makes, with the policy and history of `before` (the bytes of the file it replaces, empty for
/// none). Throws Error(usage) for a missing reason, a tool built from changed sources, a run that is not completed, a
/// non-finite value or no value at all.
Baseline make_baseline(const Record& record, const BaselineUpdate& update, const std::string& before);

/// The baseline for a person: what it is of, its policy, every metric with the move it allows, its history.
std::string baseline_text(const Baseline& baseline, size_t width);

/// Tolerances from runs that should be equal: for each metric twice the largest spread (largest less smallest value) of
/// any of its keys. Metrics that never moved stay at the default of no tolerance. Throws Error(usage) for fewer than
/// two runs or runs that have different keys.
Policy calibrated_policy(const std::vector<std::map<std::string, KeyedMetric>>& runs);

/// SHA-256 of the data behind each role and of a loaded model, as baselines hold them.
std::map<std::string, std::string> data_digests(const Record& record);
std::optional<std::string> loaded_model_digest(const Record& record);

}  // namespace headprune
