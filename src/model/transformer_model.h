// What every model that a TransformerConfig describes has in common: one way through its blocks, whatever stands
// around them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/model.h"
#include "model/transformer_config.h"

namespace headprune {

struct HfOrigin;  // model/hf_layout.h

class TransformerModel : public Model {
 public:
  explicit TransformerModel(const TransformerConfig& config);

  /// Positions that are padding are seen by no query; their own values mean nothing. Dropout, in training mode, draws
  /// from torch's default generator of the device (at::manual_seed).
  ModelOutput forward(const Batch& batch, const HeadProbe& probe = {}) override;
  std::vector<size_t> order() const override { return order_; }
  Paused pause(const Batch& batch, size_t block, const Paused* before = nullptr) override;
  ModelOutput resume(const Batch& batch, const Paused& paused, const PerBlock& gates) override;
  void remove_heads(const HeadSet& removed) override;
  std::shared_ptr<const Pattern> pattern(size_t index) const override { return pattern_of(blocks().at(index).id); }
  std::shared_ptr<Model> copy() const override { return clone(); }
  std::shared_ptr<TransformerModel> clone() const;
  Json config() const override;
  NamedTensors tensors() const override;
  /// The intact model's sizes, also after heads went.
  const TransformerConfig& sizes() const { return config_; }
  HeadSet removed_heads() const;
  /// How its layers multiply from now on; BLAS in float32 at first. Not while a pass runs.
  void use(const Products& products) { *products_ = products; }
  const Products& products() const { return *products_; }
  /// Tokens of the longest text that has positions.
  int64_t longest_text() const;
  /// For a model that came from a checkpoint of another tool: config() and tensors() keep to its layout.
  const std::shared_ptr<const HfOrigin>& origin() const { return origin_; }
  std::filesystem::path source_folder() const override;
  void set_origin(std::shared_ptr<const HfOrigin> origin) { origin_ = std::move(origin); }
  /// Written to config.json; one name an output.
  void set_labels(std::vector<std::string> labels) { labels_ = std::move(labels); }
  /// Multiplies as `other` does, has its labels and origin, and trains or not.
  void take_circumstances(const TransformerModel& other);

 protected:
  /// Where a pass stands between two blocks.
  struct Stream {
    torch::Tensor x;       // [B, T, C]
    torch::Tensor memory;  // encoder-decoder, once its encoder is through: what the decoder looks at, [B, S, C]
  };
  struct Wanted {
    bool weights = false;
    bool everywhere = false;  // contexts of all positions, also where the model needs the first one only
  };
  virtual Stream begin(const Batch& batch) const = 0;
  virtual BlockHalf attend(size_t block, const Stream& stream, const Batch& batch, const Wanted& wanted) = 0;
  /// Moves the stream past the block. `gates` as in Attention::combine.
  virtual void finish(size_t block, const BlockHalf& half, const torch::Tensor& gates, const Batch& batch,
                      Stream& stream) = 0;
  /// What the model says, from the stream behind its last block. [B, outputs] or [B, T, vocabulary]
  virtual torch::Tensor read_out(const Stream& stream, const Batch& batch) const = 0;

  /// Throws where there are gates, but not for as many blocks.
  void check_gates(const PerBlock& gates) const;
  /// A whole pass, with what `probe` asks to see.
  Stream trace(const Batch& batch, const HeadProbe& probe, HeadTrace& seen);
  EmbeddingConfig embedding_config(int64_t vocabulary_size) const;
  /// Positions inside self-attention that the layers of a stack share; null where there are none, or each layer has its
  /// own. Who registers them names their parameters.
  std::shared_ptr<AttentionPositions> stack_positions(Kind kind) const;
  /// Layer `layer` of the stack of that kind, whose layers share `positions`.
  LayerConfig layer_config(const BlockId& block, const std::shared_ptr<AttentionPositions>& positions) const;
  std::shared_ptr<const Pattern> pattern_of(const BlockId& block) const;
  SharedProducts shared_products() const { return products_; }
  NormConfig norm_config() const { return {.type = config_.norm_type, .eps = config_.layer_norm_eps}; }

 private:
  size_t place_of(size_t block) const;

  TransformerConfig config_;
  std::vector<size_t> order_;
  std::shared_ptr<Products> products_ = std::make_shared<Products>();  // shared by the layers
  std::shared_ptr<const HfOrigin> origin_;
  std::vector<std::string> labels_;
};

/// A model that multiplies otherwise while this lives.
class WithProducts {
 public:
  WithProducts(TransformerModel& model, const Products& products) : model_(model), before_(model.products()) {
    model.use(products);
  }
  ~WithProducts() { model_.use(before_); }
  WithProducts(const WithProducts&) = delete;
  WithProducts& operator=(const WithProducts&) = delete;

 private:
  TransformerModel& model_;
  Products before_;
};

/// Parameters of an intact model of these sizes; none are made.
int64_t intact_parameters(const TransformerConfig& config);

/// A model of these sizes without `removed` heads, which never exist. All weights are zeros but for those of layer
/// normalization; see initialise().
std::shared_ptr<TransformerModel> make_transformer(const TransformerConfig& config, const HeadSet& removed = {});

/// Fills the weights, each tensor from its own random stream of `seed` (core/random.h), so the same seed gives the same
/// bytes on any machine and a tensor's values do not depend on which others there are:
///   matrices          uniform in +-sqrt(6 / (rows + columns)), variance 2 / (rows + columns) (Glorot and Bengio 2010)
///   token, position vectors   normal with variance 1 / C
///   biases            0
///   layer normalization       weight 1, bias 0
void initialise(TransformerModel& model, uint64_t seed);

}  // namespace headprune
