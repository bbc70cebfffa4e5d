#include "report/gate/check.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "record/run_folder.h"
#include "report/numbers/groups.h"
#include "report/text/text_table.h"
#include "stats/tests.h"

namespace headprune {
namespace {

bool all_finite(const KeyedMetric& metric) {
  return std::isfinite(metric.value) &&
         std::all_of(metric.seeds.begin(), metric.seeds.end(), [](double value) { return std::isfinite(value); });
}

Better better_of(const Record& record, const std::string& key, const Tolerance& tolerance) {
  if (tolerance.direction == "higher") return Better::higher;
  if (tolerance.direction == "lower") return Better::lower;
  return better_side(record, key);
}

/// What makes the run and the baseline two experiments; empty when they are one.
std::vector<std::string> other_experiment(const Record& record, const Baseline& baseline) {
  if (record.experiment_id == baseline.experiment_id) return {};
  std::vector<std::string> reasons;
  for (const auto& [role, digest] : data_digests(record)) {
    const auto expected = baseline.data_sha256.find(role);
    if (expected != baseline.data_sha256.end() && expected->second != digest)
      reasons.push_back(fmt::format("the data of the {} split are not those of the baseline", role));
  }
  const std::optional<std::string> model = loaded_model_digest(record);
  if (model && baseline.model_sha256 && *model != *baseline.model_sha256)
    reasons.push_back("the loaded model is not that of the baseline");
  else if (model.has_value() != baseline.model_sha256.has_value())
    reasons.push_back(
        fmt::format("whether the models began alike is not known: the {} has no digest of a loaded model, "
                    "the {} has one",
                    model ? "baseline" : "run", model ? "run" : "baseline"));
  const std::string id = record.experiment_id.substr(0, 12), expected = baseline.experiment_id.substr(0, 12);
  reasons.push_back(fmt::format(
      "the run is of another experiment ({}) than the baseline ({}){}", id.empty() ? "none" : id, expected,
      reasons.empty() ? ": its configuration changed; if that is wanted, make a new one with headprune baseline update"
                      : ""));
  return reasons;
}

/// One key of which both sides have a finite value.
void compare(KeyVerdict& key, const Tolerance& tolerance) {
  const KeyedMetric &value = *key.value, &base = *key.base;
  // 0.8105 - 0.7905 is a little more than 0.02 in binary; what allows nothing gets no such slack.
  const double slack = key.tolerance > 0 ? 1e-12 * std::max(1.0, std::abs(base.value)) : 0;
  const double worse = key.worse_by();
  if (tolerance.exact && value.value != base.value) {
    key.verdict = "regressed";
    key.note = "the policy allows no difference";
    return;
  }
  if (worse <= key.tolerance + slack) {
    const bool better = key.better != Better::either && -worse > key.tolerance + slack;
    key.verdict = better ? "improved" : "ok";
    if (better) key.note = "better than the baseline allows for chance: update it to keep the gain";
    return;
  }
  const size_t seeds = value.seeds.size();
  key.verdict = "regressed";
  if (seeds != base.seeds.size() || smallest_sign_flip_p(static_cast<int64_t>(seeds)) >= kAlpha) {
    key.note =
        fmt::format("no test possible with {}: the tolerance decides", count_text(static_cast<int64_t>(seeds), "seed"));
    return;
  }
  std::vector<double> differences;
  for (size_t i = 0; i < seeds; ++i) differences.push_back(value.seeds[i] - base.seeds[i]);
  key.p = sign_flip_p(differences, Random(0, "check"));
  key.test = "sign_flip";
  if (*key.p < kAlpha) return;
  key.verdict = "ok";
  key.note = fmt::format("worse by more than allowed, but the paired test over {} seeds does not agree", seeds);
}

void judge(KeyVerdict& key, const Tolerance& tolerance) {
  if (tolerance.exclude) {
    key.verdict = "excluded";
  } else if (key.value && !all_finite(*key.value)) {
    key.verdict = "nonfinite";
    key.note = "the run has no finite value";
  } else if (!key.value) {
    key.verdict = "missing";
    key.note = "the baseline has it, the run has not";
  } else if (!key.base) {
    key.verdict = "new";
    key.note = "not in the baseline: update it to gate on this";
  } else {
    compare(key, tolerance);
  }
}

std::vector<std::string> fingerprint_reasons(const Record& record, const Baseline& baseline) {
  std::vector<std::string> reasons;
  for (const std::string& line : fingerprint_diff(baseline.fingerprint, record.fingerprint))
    reasons.push_back("the fingerprint differs from the baseline's: " + line);
  if (record.mixed_fingerprint) reasons.push_back("attempts of the run had different fingerprints");
  return reasons;
}

void require_tolerances(const Baseline& baseline, const CheckOptions& options) {
  for (const auto& [key, metric] : baseline.metrics) {
    const Tolerance& tolerance = baseline.policy.of(key, options.rules);
    if (tolerance.exclude || tolerance.abs > 0 || tolerance.rel > 0) continue;
    fail(ExitCode::usage,
         "--tolerate-fingerprint needs a tolerance above zero for every metric, and {} has none: set one in the "
         "baseline's policy or with --policy {}:0.01",
         key, metric_of_key(key));
  }
}

void finish_result(CheckResult& result, std::vector<std::string> incomparable, const Record& record) {
  const std::map<std::string, int64_t> counts = result.counts();
  const auto count = [&](const char* verdict) {
    const auto found = counts.find(verdict);
    return found == counts.end() ? int64_t{0} : found->second;
  };
  result.compared = count("ok") + count("improved") + count("regressed");
  const int64_t missing = count("missing"), nonfinite = count("nonfinite"), regressed = count("regressed");
  const std::string state = record.state();
  std::vector<std::string> incomplete;
  if (state != "completed") incomplete.push_back(fmt::format("the run is not completed: its state is \"{}\"", state));
  if (missing > 0) {
    incomplete.push_back(fmt::format("{} of the baseline {} missing from the run", count_text(missing, "metric"),
                                     missing == 1 ? "is" : "are"));
  }
  if (nonfinite > 0)
    incomplete.push_back(
        fmt::format("{} {} not a finite number", count_text(nonfinite, "metric"), nonfinite == 1 ? "is" : "are"));
  if (incomparable.empty() && result.compared == 0) incomplete.push_back("no metric was compared");
  const std::string worse = regressed == 0
                                ? ""
                                : fmt::format("{} of {} compared {} worse than the baseline allows", regressed,
                                              count_text(result.compared, "metric"), regressed == 1 ? "is" : "are");
  if (!incomparable.empty()) {
    result.verdict = "incomparable";
    result.code = ExitCode::incomparable;
  } else if (!incomplete.empty()) {
    result.verdict = "incomplete";
    result.code = ExitCode::incomplete;
  } else if (regressed > 0) {
    result.verdict = "regression";
    result.code = ExitCode::regression;
  } else {
    result.verdict = "ok";
  }
  for (std::vector<std::string>* list : {&incomparable, &incomplete}) {
    for (std::string& reason : *list) result.reasons.push_back(std::move(reason));
  }
  if (!worse.empty()) result.reasons.push_back(worse);
}

}  // namespace

double KeyVerdict::worse_by() const {
  if (!value || !base) return 0;
  const double change = value->value - base->value;
  if (better == Better::either) return std::abs(change);
  return better == Better::higher ? -change : change;
}

std::map<std::string, int64_t> CheckResult::counts() const {
  std::map<std::string, int64_t> counts;
  for (const KeyVerdict& key : metrics) ++counts[key.verdict];
  return counts;
}

std::vector<const KeyVerdict*> CheckResult::failures() const {
  std::vector<const KeyVerdict*> list;
  for (const KeyVerdict& key : metrics) {
    if (key.failed()) list.push_back(&key);
  }
  const auto rank = [](const KeyVerdict& key) {
    // Metrics have different units: a move is measured by the size of what it moved from.
    const double unit = key.base ? std::max(std::abs(key.base->value), 1e-12) : 1;
    return std::pair(key.verdict == "regressed", -(key.worse_by() - key.tolerance) / unit);
  };
  std::stable_sort(list.begin(), list.end(),
                   [&](const KeyVerdict* a, const KeyVerdict* b) { return rank(*a) < rank(*b); });
  return list;
}

CheckResult check_run(const Record& record, const Baseline& baseline, const CheckOptions& options) {
  CheckResult result;
  result.name = baseline.name;
  result.lines = baseline.lines;
  std::vector<std::string> incomparable = other_experiment(record, baseline);
  std::vector<std::string> fingerprint = fingerprint_reasons(record, baseline);
  if (options.tolerate_fingerprint && !fingerprint.empty()) {
    require_tolerances(baseline, options);
    for (const std::string& reason : fingerprint) result.reasons.push_back("tolerated: " + reason);
    fingerprint.clear();
  }
  incomparable.insert(incomparable.end(), fingerprint.begin(), fingerprint.end());

  const std::map<std::string, KeyedMetric> values = keyed_metrics(record, agreement_rows(record, /*with_p=*/false));
  std::set<std::string> keys;
  for (const auto& [key, metric] : values) keys.insert(key);
  for (const auto& [key, metric] : baseline.metrics) keys.insert(key);
  for (const std::string& name : keys) {
    const Tolerance& tolerance = baseline.policy.of(name, options.rules);
    KeyVerdict key;
    key.key = name;
    if (const auto found = values.find(name); found != values.end()) key.value = found->second;
    if (const auto found = baseline.metrics.find(name); found != baseline.metrics.end()) key.base = found->second;
    key.better = better_of(record, name, tolerance);
    if (key.base) key.tolerance = tolerance.allowed(key.base->value);
    judge(key, tolerance);
    if (!incomparable.empty() && key.verdict != "excluded") {
      key.verdict = "incomparable";
      key.note = incomparable.front();
    }
    result.metrics.push_back(std::move(key));
  }
  finish_result(result, std::move(incomparable), record);
  return result;
}

CheckResult without_baseline(const std::string& run, const std::string& baseline) {
  CheckResult result;
  result.name = "headprune";
  result.verdict = "baseline_missing";
  result.code = ExitCode::baseline_missing;
  result.reasons.push_back(
      fmt::format("there is no baseline {}: make it with headprune baseline update {} --baseline {} --reason TEXT",
                  baseline, run, baseline));
  return result;
}

}  // namespace headprune
