// Small random models that transformers wrote, and what it computed with them (tests/golden/make_hf_models.py,
// make_marian.py).
#pragma once

#include <string>
#include <vector>

#include "core/files.h"
#include "core/json.h"
#include "data/batch.h"
#include "model/folder.h"
#include "support/catch_torch.h"

namespace headprune::testing {

/// What another program's float32 logits may differ by.
inline constexpr double kClose = 1e-5;
/// The models of make_llama.py.
inline constexpr const char* kLlamaCases[] = {"llama", "llama_biases", "mistral", "qwen2", "qwen3"};

struct HfGolden {
  fs::path folder;
  Json expected;
  std::vector<Example> examples;

  /// `name` is a folder of tests/golden/hf.
  explicit HfGolden(const std::string& name);
  Batch batch() const;                 // all examples, padded
  Batch alone(int64_t example) const;  // one, unpadded
  int64_t outputs() const;             // labels; 1 for regression; 0 for a model of sequences
  std::shared_ptr<TransformerModel> model() const { return load_model(read_model_folder(folder), torch::kCPU); }
};

/// {"0":[1],"2":[0,3]} as heads of blocks of `kind`.
HeadSet heads_of(const Json& layers, Kind kind);

/// Squared error of each example, or mean cross-entropy: of its label, or over its targets. [B]
torch::Tensor example_losses(const torch::Tensor& values, const Batch& batch);

/// In float64: the largest difference of a loss, or of its gradient in a gate, from the golden's; NaN where one is.
double gradient_difference(const HfGolden& golden);

/// Nested lists as float64.
torch::Tensor tensor_of(const Json& json);

/// Largest |a - b| over real positions, relative to the largest |b| where that exceeds 1. `expected`: rows [labels], or
/// a list of positions each, real ones only. NaN where one of `values` is.
double logits_difference(const torch::Tensor& values, const Json& expected);

/// The largest `logits_difference` of an example that `model` sees alone and unpadded, from its row of `expected`.
double alone_difference(TransformerModel& model, const HfGolden& golden, const Json& expected);

}  // namespace headprune::testing
