// Evaluation of masks on a split, one mask after another. What masks have in common is computed once: a pass that is
// intact below some block is kept where it stopped there, so that the next mask starts from that block's contexts.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "task/task.h"

namespace headprune {

class MaskEvaluator {
 public:
  /// `model` keeps its weights and heads, and `batches` live, for as long as this does. Passes that stopped are kept
  /// while they take at most `memory` bytes; 0 keeps none. Numbers do not depend on it.
  MaskEvaluator(Model& model, const Task& task, const std::vector<Batch>& batches, int64_t memory);

  /// The outcome of every example under the mask without `removed`, in the split's order: no gradients, evaluation
  /// mode. Batches are computed side by side where that is faster (model/side_by_side.h). A mask that lacks at least a
  /// quarter of the heads is evaluated on a copy of the model without them, unless the split is so small that the copy
  /// would cost more. Checks for a stop request between batches. Non-finite logits: outcomes carry them; metrics say
  /// so. With a tokenizer, a task that measures texts has the model write them.
  Outcomes evaluate(const HeadSet& removed, const Tokenizer* tokenizer = nullptr);

 private:
  struct Mask;
  Mask prepare(const HeadSet& removed) const;
  ModelOutput output(size_t batch, const Mask& mask);
  Paused paused_at(size_t batch, size_t block);
  void keep(size_t batch, const Paused& paused);

  Model& model_;
  const Task& task_;
  const std::vector<Batch>& batches_;
  Blocks blocks_;
  std::vector<size_t> order_;   // of blocks, in a pass
  std::vector<size_t> places_;  // of each block in it
  int64_t examples_ = 0, positions_ = 0;
  int64_t at_once_ = 1;  // batches
  int64_t memory_ = 0;
  std::vector<std::map<size_t, Paused>> kept_;  // of each batch, by place
  std::mutex mutex_;                            // of what batches share:
  int64_t kept_bytes_ = 0;
};

}  // namespace headprune
