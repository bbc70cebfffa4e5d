// A transformer that writes a text from another (Vaswani et al. 2017): an encoder, and a decoder whose layers look at
// what they have written (kind `decoder`) and at the encoder's states (kind `cross`).
#pragma once

#include <memory>
#include <vector>

#include "model/transformer_model.h"
#include "model/writer.h"

namespace headprune {

/// One layer of the decoder. As in Block, each attention's pass has two halves, between which its gates stand.
class DecoderLayer : public torch::nn::Module {
 public:
  /// Positions inside attention, and the pattern, are those of what it has written: tokens of two texts have no
  /// distance.
  explicit DecoderLayer(const LayerConfig& config);

  BlockHalf attend_self(const torch::Tensor& x, bool weights);
  /// The same for positions `x` [N, T, C] behind those in `past`, which they join; weights as KeyValueCache::attend().
  BlockHalf attend_next(const torch::Tensor& x, KeyValueCache& past, bool weights);
  torch::Tensor finish_self(const BlockHalf& half, const torch::Tensor& gates) const;
  BlockHalf attend_cross(const torch::Tensor& x, const KeyValues& source, const Visibility& visible, bool weights);
  /// With the feed-forward part.
  torch::Tensor finish_cross(const BlockHalf& half, const torch::Tensor& gates) const;

  Attention& self() { return *self_; }
  Attention& cross() { return *cross_; }

 private:
  std::shared_ptr<const Pattern> pattern_;  // of what it has written
  std::shared_ptr<Attention> self_, cross_;
  std::shared_ptr<FeedForward> feed_forward_;
  Residual around_self_, around_cross_, around_feed_forward_;
};

class EncoderDecoder final : public TransformerModel, public SequenceWriter {
 public:
  explicit EncoderDecoder(const TransformerConfig& config, const HeadSet& removed = {});

  Blocks blocks() const override;
  Attention& attention(size_t index) override;
  std::optional<int64_t> layers_above(const std::string& parameter) const override;

  SequenceWriter* writer() override { return this; }
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
  /// Blocks of the three kinds, one kind after the other.
  bool in_encoder(size_t block) const { return block < encoder_.size(); }
  bool is_cross(size_t block) const { return block >= encoder_.size() + decoder_.size(); }
  size_t layer_of(size_t block) const;
  const Embeddings& target_embeddings() const { return target_embeddings_ ? *target_embeddings_ : *embeddings_; }
  torch::Tensor embed(const Embeddings& embeddings, const torch::Tensor& tokens, int64_t first = 0) const;
  torch::Tensor logits(const torch::Tensor& x) const;

  std::shared_ptr<Embeddings> embeddings_, target_embeddings_;  // the second is null where both sides share one
  std::vector<std::shared_ptr<Block>> encoder_;
  std::vector<std::shared_ptr<DecoderLayer>> decoder_;
  std::shared_ptr<Norm> norm_, decoder_norm_;  // after the last layer of each side; null with norm: post
  std::shared_ptr<Projection> head_;           // logits; null with tied embeddings
  torch::Tensor logits_bias_;                  // [vocabulary], a buffer; undefined without
};

}  // namespace headprune
