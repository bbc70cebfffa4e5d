// AdamW (Loshchilov and Hutter 2019; LibTorch's fused kernel), with its state by parameter name.
#pragma once

#include <memory>
#include <string>

#include "model/checkpoint.h"
#include "train/options.h"

namespace headprune {

/// Weight decay acts on parameters with two or more dimensions (matrices and embeddings), so biases and the weights of
/// norms have none. With options.layer_decay the learning rate of a parameter is multiplied by that to the power of
/// Model::layers_above(), as fine-tuning of ELECTRA does (Clark et al. 2020, section 3.2 and their code).
class Optimizer {
 public:
  /// Parameters of the model at this moment; betas, epsilon and decays from the options. Throws Error(usage) where
  /// layer_decay is asked for and the model has no layers.
  Optimizer(const Model& model, const TrainOptions& options);
  /// More parameters, stepped at a learning rate of their own, without decay; clip() leaves them alone.
  void add(const NamedTensors& parameters, double learning_rate);
  ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Gradients become undefined.
  void zero_grad();
  /// L2 norm of all gradients of the model together; scales them down to `max_norm` when it is larger (0 = never).
  double clip(double max_norm);
  /// `learning_rate` is that of the model's last layer. A parameter without a gradient is left alone.
  void step(double learning_rate);

  /// exp_avg.<param>, exp_avg_sq.<param> (shape of the parameter) and step.<param> (I64 scalar), for parameters that
  /// were stepped.
  NamedTensors state() const;
  /// Throws Error(run_failed) naming `where` for a tensor that is missing, unknown or misshapen.
  void load_state(const NamedTensors& tensors, const std::string& where);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headprune
