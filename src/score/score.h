// Head importance: the interface of a score method, and the one driver that runs them. Methods that look at the same
// data share one pass: each says what it needs to see, and receives it batch by batch.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/registry.h"
#include "data/batch.h"
#include "model/model.h"
#include "task/task.h"

namespace headprune {

/// What a method wants to see of each batch. The driver computes the union, once.
struct Needs {
  bool data = true;                // false: no pass over the data at all (random, magnitude)
  bool gate_gradients = false;     // Observation::gate_gradients
  bool context_gradients = false;  // Observation::context_gradients, and contexts
  bool weight_gradients = false;   // Observation::weight_gradients
  bool contexts = false;           // HeadTrace::contexts
  bool attention_weights = false;  // HeadTrace::weights

  bool any_gradient() const { return gate_gradients || context_gradients || weight_gradients; }
};

/// Gradients of one block's projections, summed over the examples of a batch.
struct ProjectionGradients {
  torch::Tensor query, output;  // head by head, [H, Dk, C] and [H, C, Dv]
  torch::Tensor key, value;     // group by group, [G, Dk, C] and [G, Dv, C]
};

/// One batch under intact weights and the heads present. What nobody asked for is empty; what a block without heads
/// would have is an undefined tensor. Nothing here is attached to a graph.
struct Observation {
  const Batch& batch;
  HeadTrace trace;             // as asked for; present at padding too: see query_mask
  PerBlock gate_gradients;     // [B, H]: dl(x)/dgate of each example's own loss
  PerBlock context_gradients;  // [B, H, T, Dv]: dl(x)/dcontext
  std::vector<ProjectionGradients> weight_gradients;
};

/// What a method gives a number to: the heads present (U = H), or the groups that they read (U = G). Heads that a sweep
/// has removed give nothing to their group; a group without a head left is removed itself.
class ScoreUnits {
 public:
  ScoreUnits(const Blocks& heads, const HeadSet& removed, HeadUnit unit);

  HeadUnit unit() const { return unit_; }
  /// With units in the place of heads.
  const Blocks& blocks() const { return blocks_; }
  const HeadSet& removed() const { return removed_; }
  /// Of values of heads, [B, H, ...] or [H], the sum over each unit: [B, U, ...] or [U]. Of heads, the values
  /// themselves.
  torch::Tensor sum(const torch::Tensor& of_heads, size_t block) const;
  /// Of numbers of heads' own [H] and of the keys and values of groups [G], which are no head's own where several heads
  /// of the intact model read them: [U].
  torch::Tensor sum(const torch::Tensor& own, const torch::Tensor& of_groups, size_t block) const;
  /// The same, divided by the unit's surviving heads.
  torch::Tensor mean(const torch::Tensor& of_heads, size_t block) const;
  /// Values of units [U] at each of their heads [H]; 0 at removed heads.
  torch::Tensor spread(const torch::Tensor& of_units, size_t block) const;
  /// Places of a unit's heads on the axis of heads.
  std::vector<int64_t> places(size_t block, size_t index) const;

 private:
  HeadUnit unit_;
  Blocks heads_, blocks_;
  HeadSet removed_;
  PerBlock survives_;  // [H] bool
  PerBlock unit_of_;   // [H] int64: the place of a head's unit
};

/// Raw values of one method: float64 [U] a block, on the CPU. What stands at removed units is not looked at.
struct RawScores {
  PerBlock values;
  /// Standard error of the mean over examples, [U] a block, undefined where fewer than two examples counted in it;
  /// empty where a method has none.
  PerBlock stderr_;
  /// The values from the examples of even and of odd index alone, [U] a block; empty where a method has none.
  std::array<PerBlock, 2> halves;
  std::vector<int64_t> n;             // examples that counted in each block; empty where a method looks at none
  int64_t masks = 0;                  // evaluations of the score split beyond the pass that methods share
  int64_t batches = 0, examples = 0;  // forward passes over batches of its own, and what they hold
};

enum class Keep { large, small };                        // which end of the raw values means "keep"
enum class Normalize { none, layer_l2, global_minmax };  // docs/definitions.md "Normalisation"
template <>
struct EnumNames<Normalize> {
  static constexpr std::pair<const char*, Normalize> names[] = {
      {"none", Normalize::none}, {"layer_l2", Normalize::layer_l2}, {"global_minmax", Normalize::global_minmax}};
};

struct ScoreInput {
  Model& model;
  const Task& task;
  const std::vector<Batch>& batches;  // of the score split
  int64_t examples = 0;
  const HeadSet& removed;  // heads gated to 0 by the sweep so far: no part in any norm, rank or tie
  uint64_t seed = 0;
  std::function<void(size_t)> on_batch = {};  // how many are done; may be empty
  std::function<void(int64_t)> on_mask = {};  // the same of evaluations by methods that take heads away
  int64_t memory = 0;                         // bytes that their masks may share (task/mask_evaluator.h)
  HeadUnit unit = HeadUnit::query;            // the method's own; set by the driver

  ScoreUnits units() const { return {model.blocks(), removed, unit}; }
};

template <>
struct EnumNames<HeadUnit> {
  static constexpr std::pair<const char*, HeadUnit> names[] = {{"query", HeadUnit::query}, {"group", HeadUnit::group}};
};
/// The help of the option `unit` of scores.
inline constexpr const char* kScoreUnitHelp =
    "query (default): each head by itself; group: the heads that read one group's keys and values as one, each of "
    "which "
    "then has the group's number";

/// One score. It may depend on options only through itself: the same options and input give the same bytes.
class ScoreMethod {
 public:
  /// Collects one method's values over the batches of one pass.
  class Pass {
   public:
    virtual ~Pass() = default;
    virtual void add(const Observation& observation) = 0;
    virtual RawScores finish() = 0;
  };
  virtual ~ScoreMethod() = default;
  virtual Keep keep() const { return Keep::large; }
  virtual Normalize normalize() const { return Normalize::none; }
  virtual HeadUnit unit() const { return HeadUnit::query; }
  virtual Needs needs() const = 0;
  /// What a reader of its numbers has to know of its options, for the report: "positions: all"; may be empty.
  virtual std::string note() const { return ""; }
  /// Evaluations of the score split, at most, that a scoring of these heads takes beyond a pass over it.
  virtual int64_t masks(const Blocks& /*heads*/) const { return 0; }
  /// Independent curves of one method: 1, except for random.
  virtual int64_t draws() const { return 1; }
  virtual std::unique_ptr<Pass> start(const ScoreInput& input, int64_t draw) const = 0;
};

/// Importance of every present head: larger = keep, whatever the method's direction.
struct Importance {
  PerBlock values;   // float64 [H] a block, CPU; removed heads 0
  PerBlock stderr_;  // empty where undefined; so is a block of it
  /// From either half of the examples, normalised as `values`: how stable the ranking is. Empty where undefined.
  std::array<PerBlock, 2> halves;
  std::vector<int64_t> n;             // examples that counted in each block; empty where a method looks at none
  int64_t ties = 0;                   // surviving units that share their value with another
  std::vector<std::string> warnings;  // all equal within a block, or overall
  // What the method needs: examples seen, and batches forward and backward as if it had the pass for itself. So the
  // numbers do not depend on which other methods shared the pass; the seconds are those of the shared pass.
  int64_t examples = 0, forward = 0, backward = 0;
  int64_t masks = 0;  // evaluations of the score split that are among the forward passes
  double dur_s = 0;
};

/// One entry of `requests` a curve: a method and a draw.
struct ScoreRequest {
  const ScoreMethod* method = nullptr;
  std::string label;
  int64_t draw = 0;
};

/// The only caller of a method; one Importance for each request, in their order. Evaluation mode, frozen weights, no
/// dropout; weights, buffers, requires_grad and .grad are left as they were, on a throw too. Fresh gates every batch.
/// Without a surviving head nothing is computed. Looks for a stop request between batches.
/// Non-finite values: Error(run_failed) naming the head and the example.
std::vector<Importance> importance(const std::vector<ScoreRequest>& requests, const ScoreInput& input);

/// Makes the values of different blocks comparable, in place; removed heads take no part and read 0 afterwards.
/// layer_l2: each block over its L2 norm, an all-zero block stays zero. global_minmax: onto [0, 1] over all heads, all
/// equal: zeros. `stderrs` ([H] a block or undefined, or empty) are scaled by the same factors.
void normalize(PerBlock& values, PerBlock& stderrs, const Blocks& blocks, const HeadSet& removed, Normalize how);

}  // namespace headprune
