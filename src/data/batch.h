// Batches: padded tensors of similar lengths, nothing padded beyond the longest example of its batch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/torch.h"
#include "data/dataset.h"

namespace headprune {

/// The rows of a batch that one example's choices take.
struct ChoiceRows {
  int64_t first = 0;
  int64_t right = 0;                // which of them is right
  std::vector<int64_t> characters;  // one a choice
};

/// B examples, S positions (the longest of them). Padding stands at the end. What the decoder of a translation reads
/// and predicts has T positions; elsewhere T is S.
struct Batch {
  torch::Tensor tokens;          // [B, S] int64
  torch::Tensor present;         // [B, S] bool: false at padding
  torch::Tensor special;         // [B, S] bool: classification, separator and other added tokens; false at padding
  torch::Tensor token_types;     // [B, S] int64; undefined where all are 0
  torch::Tensor labels;          // [B] int64, classification; else undefined
  torch::Tensor numbers;         // [B] float64, regression; else undefined
  torch::Tensor targets;         // [B, T] int64, kNoTarget where no loss, language modelling, translation; or undefined
  torch::Tensor decoder_tokens;  // [B, T] int64, translation; else undefined
  torch::Tensor decoder_present;           // [B, T] bool: false at padding; translation; else undefined
  std::vector<std::string> references;     // [B] target texts, translation; else empty
  std::vector<int64_t> examples;           // [B] indices into the split
  std::vector<int64_t> characters, bytes;  // [B] of the predicted text, language modelling; 0 where not known
  std::vector<ChoiceRows> choices;         // [B] where each example has a row for every choice; else empty, B rows
  bool padded = false;                     // whether any position of `tokens` is padding
  int64_t size() const { return static_cast<int64_t>(examples.size()); }
  /// [B, T] bool: positions at which a model of sequences predicts something.
  const torch::Tensor& predicted() const { return decoder_present.defined() ? decoder_present : present; }
};

/// How examples are put together. One of the two sizes is set: at most `examples` a batch, or at most `tokens`
/// positions, padding included (one longer example still makes a batch). A translation is as long as the longer of its
/// sides, so that `tokens` bounds what the encoder reads and what the decoder reads.
struct BatchPlan {
  int64_t examples = 0;
  int64_t tokens = 0;
};

/// Indices of examples, batch by batch, similar lengths together: sorted by length, ties by the length of the source
/// (translation), then by index. For evaluation.
std::vector<std::vector<int64_t>> plan_batches(const std::vector<Example>& examples, const BatchPlan& plan);
/// The same for one epoch of training: shuffled by `seed`, lengths sorted within pools of 50 batches, batches shuffled.
/// A pure function of its arguments (docs/formats.md section 13: data order = f(seed, epoch, index)).
std::vector<std::vector<int64_t>> plan_epoch(const std::vector<Example>& examples, const BatchPlan& plan, uint64_t seed,
                                             int64_t epoch);
Batch make_batch(const std::vector<Example>& examples, const std::vector<int64_t>& indices, torch::Device device);
/// Which rows an example with choices gets: one with its right text, for what goes by its loss, or one for each choice.
enum class ChoiceUse { right, all };
/// All batches of a split for evaluation or scoring. With ChoiceUse::all, examples with choices have all of them, and
/// `tokens` of a plan counts the rows of all.
std::vector<Batch> make_batches(const Split& split, const BatchPlan& plan, torch::Device device,
                                ChoiceUse use = ChoiceUse::all);

}  // namespace headprune
