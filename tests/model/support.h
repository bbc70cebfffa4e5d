// Small models and batches whose every weight matters, biases and normalization included.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/random.h"
#include "model/encoder_decoder_model.h"
#include "model/transformer.h"
#include "support/catch_torch.h"
#include "support/folder.h"

namespace headprune::testing {

inline double max_difference(const torch::Tensor& a, const torch::Tensor& b) {
  REQUIRE(a.sizes() == b.sizes());
  return a.numel() == 0 ? 0.0 : (a - b).abs().max().item<double>();
}

inline torch::Tensor random_tensor(const std::vector<int64_t>& shape, uint64_t seed) {
  Random random(seed);
  torch::Tensor values = torch::empty(shape, torch::kFloat64);
  for (int64_t i = 0; i < values.numel(); ++i) values.data_ptr<double>()[i] = random.normal();
  return values;
}

/// Adds noise to every parameter, so that none is still 0 or 1.
inline void disturb(torch::nn::Module& module, uint64_t seed, double size = 0.3) {
  const torch::NoGradGuard no_grad;
  for (torch::Tensor& parameter : module.parameters())
    parameter.add_(random_tensor(parameter.sizes().vec(), seed++).to(parameter.scalar_type()), size);
}

/// Dk, Dv and C / H all differ.
inline TransformerConfig small_config(Kind kind, NormOrder norm = NormOrder::pre) {
  TransformerConfig config;
  config.architecture = kind == Kind::encoder ? Architecture::encoder : Architecture::decoder;
  config.d_model = 12;
  config.layers = 3;
  config.heads = 3;
  config.d_key = 5;
  config.d_value = 2;
  config.d_ff = 16;
  config.norm = norm;
  config.vocabulary_size = 11;
  config.max_length = 9;
  config.outputs = kind == Kind::encoder ? 4 : 0;
  return config;
}

/// Layers of both sides differ in number. With `joint`, both sides share one vocabulary.
inline TransformerConfig small_translator(NormOrder norm, bool joint) {
  TransformerConfig config = small_config(Kind::decoder, norm);
  config.architecture = Architecture::encoder_decoder;
  config.layers = 2;
  config.decoder_layers = 3;
  config.positions = joint ? Positions::sinusoidal : Positions::learned;
  config.target_vocabulary_size = joint ? 0 : 13;
  config.tie_embeddings = joint;
  return config;
}

inline HeadSet head_set(Kind kind, const std::vector<std::pair<int64_t, int64_t>>& heads) {
  HeadSet set;
  for (const auto& [layer, head] : heads) set.insert({{kind, layer}, head});
  return set;
}

template <class M>
std::shared_ptr<M> make_ready(std::shared_ptr<M> model, uint64_t seed) {
  initialise(*model, seed);
  disturb(*model, seed + 100);
  model->eval();
  return model;
}

inline std::shared_ptr<EncoderDecoder> small_translator_model(const TransformerConfig& config, uint64_t seed = 1) {
  return make_ready(std::make_shared<EncoderDecoder>(config), seed);
}

inline std::shared_ptr<Transformer> small_model(const TransformerConfig& config, uint64_t seed = 1) {
  return make_ready(std::make_shared<Transformer>(config), seed);
}

/// Rows of token ids, padded at the end.
inline Batch batch_of(const std::vector<std::vector<int64_t>>& rows) {
  size_t longest = 0;
  for (const auto& row : rows) longest = std::max(longest, row.size());
  const auto B = static_cast<int64_t>(rows.size()), T = static_cast<int64_t>(longest);
  Batch batch;
  batch.tokens = torch::zeros({B, T}, torch::kInt64);
  batch.present = torch::zeros({B, T}, torch::kBool);
  for (int64_t b = 0; b < B; ++b) {
    const auto& row = rows[static_cast<size_t>(b)];
    for (size_t t = 0; t < row.size(); ++t) {
      batch.tokens[b][static_cast<int64_t>(t)] = row[t];
      batch.present[b][static_cast<int64_t>(t)] = true;
    }
    batch.padded = batch.padded || row.size() < longest;
    batch.examples.push_back(b);
  }
  batch.special = torch::zeros({B, T}, torch::kBool);
  return batch;
}

/// With what a decoder reads, padded at its end too; the targets are the same, moved by one, and an end token 3.
inline Batch translation_of(const std::vector<std::vector<int64_t>>& sources,
                            const std::vector<std::vector<int64_t>>& targets) {
  Batch batch = batch_of(sources);
  const Batch other = batch_of(targets);
  batch.decoder_tokens = other.tokens;
  batch.decoder_present = other.present;
  batch.targets = torch::full_like(other.tokens, kNoTarget);  // [B, T]
  for (size_t b = 0; b < targets.size(); ++b)
    for (size_t t = 0; t < targets[b].size(); ++t)
      batch.targets[static_cast<int64_t>(b)][static_cast<int64_t>(t)] =
          t + 1 < targets[b].size() ? targets[b][t + 1] : 3;
  return batch;
}

inline Batch small_translation() {
  return translation_of({{5, 7, 4, 9, 3}, {8, 3}, {6, 10, 10, 3}}, {{2, 4, 4, 9}, {2, 10, 8, 7, 6, 5}, {2}});
}

inline Batch small_batch() { return batch_of({{2, 5, 7, 4, 9, 3}, {2, 8, 3}, {2, 6, 10, 10, 3}}); }

/// Logits at positions that are not padding: all of a classifier's, rows of other models'.
inline torch::Tensor real_logits(Model& model, const Batch& batch, const HeadProbe& probe = {}) {
  const torch::Tensor values = model.forward(batch, probe).values;
  return values.dim() == 2 ? values : values.index({batch.predicted()});
}

/// Gates of 0 give the logits of heads that are gone, and of zeroed columns of the output projection, on a model whose
/// values are 2 wide; `full` are the intact model's, which come out again afterwards.
inline void check_masked_equals_removed(TransformerModel& intact, const Batch& batch, const HeadSet& removed,
                                        const torch::Tensor& full) {
  const Blocks blocks = intact.blocks();
  const HeadProbe probe{.gates = mask_gates(blocks, removed, torch::kCPU)};
  const torch::Tensor masked = real_logits(intact, batch, probe);
  const auto pruned = intact.copy();
  pruned->remove_heads(removed);
  CHECK(max_difference(masked, real_logits(*pruned, batch)) < 1e-5);
  CHECK(max_difference(masked, full) > 1e-3);
  const auto zeroed = intact.copy();
  for (size_t b = 0; b < blocks.size(); ++b)
    for (const int64_t head : removed.in_block(blocks[b].id))
      zeroed->attention(b).output().weight.narrow(1, 2 * head, 2).zero_();
  CHECK(max_difference(masked, real_logits(*zeroed, batch)) < 1e-5);
  CHECK(torch::equal(full, real_logits(intact, batch)));
}

}  // namespace headprune::testing
