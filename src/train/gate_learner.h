// One step of learning gates: cut from their source for the passes over the step's batches, and taken back to it after.
#pragma once

#include "train/gate_source.h"

namespace headprune {

class GateLearner {
 public:
  /// `device`: where the model is.
  GateLearner(GateSource& source, torch::Device device) : source_(source), device_(device) {}

  /// Gates of a step for the model, cut off from their parameters: batches that are accumulated add to the gradients
  /// of the gates, which go back once.
  PerBlock open(int64_t step);
  /// Takes the gradients of the loss by those gates, and of the penalty, to the parameters. Returns the penalty, the
  /// norm of the parameters' gradients, and what the source measures.
  std::vector<std::pair<std::string, double>> close();
  void confine() { source_.confine(); }
  NamedTensors parameters() const { return source_.parameters(); }
  /// Throws Error(run_failed) naming `where` for tensors that are not the source's.
  void load(const NamedTensors& tensors, const std::string& where);

 private:
  GateSource& source_;
  torch::Device device_;
  PerBlock made_, cut_;
};

}  // namespace headprune
