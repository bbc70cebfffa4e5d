// The transformer of the families `encoder` (bidirectional classifier) and `decoder` (causal language model).
#pragma once

#include <memory>
#include <vector>

#include "model/transformer_model.h"
#include "model/writer.h"

namespace headprune {

class Transformer final : public TransformerModel, public SequenceWriter {
 public:
  explicit Transformer(const TransformerConfig& config, const HeadSet& removed = {});

  Blocks blocks() const override;
  bool first_position_only(size_t index) const override {
    return classifies() && sizes().pooling == Pooling::cls && index + 1 == blocks_.size();
  }
  Attention& attention(size_t index) override { return blocks_.at(index)->attention(); }
  std::optional<int64_t> layers_above(const std::string& parameter) const override;
  /// forward() without the classifier or the output layer: values are the last layer's states [B, T, C].
  ModelOutput encode(const Batch& batch, const HeadProbe& probe = {});

  /// A decoder writes.
  SequenceWriter* writer() override { return classifies() ? nullptr : this; }
  int64_t longest() const override { return longest_text(); }
  WriterState start(const torch::Tensor& memory, const Batch& batch) const override;
  ModelOutput next(WriterState& state, const torch::Tensor& tokens, const HeadProbe& probe = {}) override;

 protected:
  Stream begin(const Batch& batch) const override;
  BlockHalf attend(size_t block, const Stream& stream, const Batch& batch, const Wanted& wanted) override;
  void finish(size_t block, const BlockHalf& half, const torch::Tensor& gates, const Batch& batch,
              Stream& stream) override;
  torch::Tensor read_out(const Stream& stream, const Batch& batch) const override;

 private:
  Kind kind() const { return classifies() ? Kind::encoder : Kind::decoder; }
  bool classifies() const { return sizes().architecture == Architecture::encoder; }
  /// What the first block reads; `first` and `padding` as in Embeddings::forward(). [B, T, C]
  torch::Tensor embed(const Batch& batch, int64_t first = 0, const torch::Tensor& padding = {}) const;
  torch::Tensor states(const Stream& stream) const;  // [B, T, C]

  std::shared_ptr<Embeddings> embeddings_;
  std::vector<std::shared_ptr<Block>> blocks_;
  std::shared_ptr<Norm> norm_;          // after the embeddings (post) or after the last block (pre)
  std::shared_ptr<Projection> pooler_;  // [C, C]; null without
  std::shared_ptr<Projection> head_;    // logits; null with tied embeddings
};

}  // namespace headprune
