// Gates that a training learns: parameters of their own, gates made of them at each step, a penalty. The trainer knows
// no kind of gate; each is a source.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/model.h"

namespace headprune {

class GateSource {
 public:
  virtual ~GateSource() = default;
  /// Leaves that want gradients, by name, on the CPU: what the optimizer steps and checkpoints hold.
  virtual NamedTensors parameters() const = 0;
  /// The gates of optimizer step `step` (the first is 0), [H] a block, undefined for a block whose gates stay 1. They
  /// lead back to the parameters. Noise is drawn from a stream of the step's own, so that a training that was
  /// interrupted draws what it would have drawn.
  virtual PerBlock gates(int64_t step) = 0;
  /// Added to the loss; a scalar that leads back to the parameters, or undefined.
  virtual torch::Tensor penalty() const { return {}; }
  /// Keeps parameters within bounds; after every step.
  virtual void confine() {}
  /// What train.jsonl gets beside the loss: names and values.
  virtual std::vector<std::pair<std::string, double>> measurements() const { return {}; }
};

/// How gates are learnt.
struct GateTraining {
  GateSource* source = nullptr;  // null: none are
  double learning_rate = 0;      // of AdamW without decay, the same at every step
  /// Whether the weights learn too, as the options say. Without, they stay as they are and the model runs without
  /// dropout, so that the gates alone are what changes.
  bool train_weights = false;

  bool weights_frozen() const { return source != nullptr && !train_weights; }
};

}  // namespace headprune
