// What a run records about one evaluated mask. Torch-free.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/heads.h"
#include "stats/estimate.h"

namespace headprune {

/// How a point of a sensitivity table stands among the others.
enum class Shown {
  heads,      // in a grid, the heads (or groups) of a block across: the point is about one of them
  fractions,  // in a grid, fractions across: a score says which heads of a block or kind go
  blocks      // a line for each block
};

/// What makes a point itself: nothing of time, host or folder. Empty text and absent numbers do not apply
/// (docs/formats.md section 1). The unpruned base has rule "none" and nothing else but the seed and at_step.
struct PointSpec {
  int64_t seed = 0;
  std::string method = {};  // label of a score
  std::optional<int64_t> draw = {};
  std::string sweep = {};               // label of a sweep
  std::string rule = {};                // plug-in name of the rule; "none" for the base
  std::optional<int64_t> at_step = {};  // the weights are those after so many training steps; absent: the run's last
  std::string table = {};               // sensitivity table
  std::string kind = {};                // "all", a kind, or kinds joined by '+'
  std::optional<int64_t> layer = {}, head = {}, group = {};  // group: of heads that read the same keys and values
  int64_t heads_removed = 0;
  std::string name = {};  // of a mask that was listed by hand; its hash too, since its count says nothing of it
  std::string mask = {};  // mask_sha256
  std::optional<int64_t> control_steps = {};  // of a control: the intact model after so many steps of fine-tuning
  /// The weight of a penalty that settles how many heads go: heads_removed is what came out, and not known before.
  std::optional<double> lambda = {};

  bool operator==(const PointSpec&) const = default;
  Shown shown() const;
  /// Only the fields that apply, in declared order.
  Json to_json() const;
  /// Without what came out.
  PointSpec identity() const;
  static PointSpec from_json(const Json& json);
};

/// First 16 hex digits of the hash of canonical JSON of `experiment` and the identity of the spec.
std::string point_id(const std::string& experiment_id, const PointSpec& spec);

/// A metric of a point; `difference` is absent for the base itself.
struct MetricResult {
  std::string name;
  Estimate estimate;
  std::optional<Difference> difference;
  /// A value of every example whose mean is the metric, or (of a corpus metric) varies as it does: what differences and
  /// areas over several points need. Not in the journal but in record/example_values.h; empty when read back.
  std::vector<double> examples = {};
};

/// A mask under given weights, from the rule that plans it to the report that shows it.
struct Point {
  PointSpec spec;
  int64_t step = 0;         // index of the point in its sweep or table curve
  std::string scope;        // "global" or "layer"; empty outside sweeps
  double fraction = 0;      // heads_removed / heads_total
  int64_t heads_total = 0;  // heads that may go under the rule or table
  HeadSet fixed = {};       // heads that may not, the kinds of the rule aside
  HeadSet removed;
  bool fine_tuned = false;            // weights differ from the intact model's: never merged with an equal mask
  int64_t forward = 0, backward = 0;  // passes spent to get to the point: scoring and fine-tuning

  /// Whether it is the intact model under its own weights.
  bool intact() const { return spec.heads_removed == 0 && !fine_tuned; }
  /// Whether it is a model of its own that lacks no head: its name says what was done to it.
  bool other_model() const { return spec.heads_removed == 0 && fine_tuned && !spec.name.empty() && !spec.lambda; }
};

/// What a run records about one.
struct PointResult : Point {
  std::string point;                             // id
  std::string weights, weights_manifest_sha256;  // model folder inside the run folder, where they were kept
  std::string mask;                              // mask_sha256
  int64_t params = 0;
  int64_t attention_flops_per_token = 0;
  /// What each token of a text that is read or written adds to a decoder's cache of keys and values; absent elsewhere.
  std::optional<int64_t> kv_cache_bytes_per_token = {};
  std::string split;  // role: score, select, report
  double dur_s = 0;
  std::vector<MetricResult> metrics;
  std::string same_as;          // id of the point whose equal mask was evaluated before; empty otherwise
  std::string samples_sha256;   // with output.samples
  std::string examples_sha256;  // of the file that holds its metrics' values by example; empty without one
  /// The one head of its block that is left, where a table chose it; read off `removed`, not stored.
  std::optional<int64_t> kept_head = {};
  std::optional<int64_t> kept_group = {};  // the same of a group of several heads

  const MetricResult* metric(const std::string& name) const;
  /// Equal for points that evaluate the same mask under the same weights, of one seed and step: weights of a point's
  /// own are no other point's. Empty where the mask is not known.
  const std::string& evaluated() const { return fine_tuned ? point : mask; }

  /// point_done of docs/formats.md section 7; with same_as the metrics stay out.
  Json to_json() const;
  static PointResult from_json(const Json& json);
};

}  // namespace headprune
