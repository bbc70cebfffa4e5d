// What joins the parts of a transformer: embeddings, residual connections, and the block of attention and feed-forward.
#pragma once

#include <memory>
#include <string>

#include "config/fields.h"
#include "core/torch.h"
#include "model/attention.h"
#include "model/feed_forward.h"
#include "model/key_value_cache.h"
#include "model/norm.h"
#include "model/pattern.h"
#include "model/positions.h"

namespace headprune {

/// Where normalization stands: before each part of a block (and once more after the last block), or after each
/// sum of a part with its input (and once after the embeddings; an encoder-decoder has none there).
enum class NormOrder { pre, post };
template <>
struct EnumNames<NormOrder> {
  static constexpr std::pair<const char*, NormOrder> names[] = {{"pre", NormOrder::pre}, {"post", NormOrder::post}};
};

/// One layer of a model.
struct LayerConfig {
  AttentionConfig attention;
  FeedForwardConfig feed_forward;
  NormConfig norm;
  NormOrder order = NormOrder::pre;
  double dropout = 0;
  std::shared_ptr<const Pattern> pattern = full_pattern();
};

struct EmbeddingConfig {
  int64_t vocabulary_size = 0;
  int64_t d_model = 0;
  Positions positions = Positions::learned;
  int64_t max_length = 0;        // learned positions a sequence can use; sinusoidal ones have no limit
  int64_t position_offset = 0;   // rows of learned positions before the first that is used
  int64_t token_types = 0;       // rows of token type vectors
  int64_t uncounted_token = -1;  // positions do not count it (TransformerConfig::uncounted_token)
  bool scale = true;             // with sinusoidal positions: token vectors are multiplied by sqrt(C)
};

/// Token vectors plus positions, plus token type vectors where the model has them. With sinusoidal positions, whose
/// size is fixed, token vectors are as a rule multiplied by sqrt(C) (Vaswani et al. 2017, section 3.4), so that neither
/// drowns the other.
class Embeddings : public torch::nn::Module {
 public:
  explicit Embeddings(const EmbeddingConfig& config);
  /// Both [B, T] int64, to [B, T, C]; undefined token types are all 0. The tokens stand at the positions from `first`
  /// on; of a row with `padding` [B] int64, the positions before that many hold no token and do not count. Throws
  /// Error(run_failed) for more positions than learned ones.
  torch::Tensor forward(const torch::Tensor& tokens, const torch::Tensor& token_types, int64_t first = 0,
                        const torch::Tensor& padding = {}) const;
  const torch::Tensor& tokens() const { return tokens_; }  // [vocabulary, C]

 private:
  torch::Tensor learned_positions(const torch::Tensor& tokens, int64_t first) const;  // [T, C] or [B, T, C]

  EmbeddingConfig config_;
  torch::Tensor tokens_;
  torch::Tensor positions_;    // [position_offset + max_length, C]; undefined with sinusoidal positions
  torch::Tensor token_types_;  // [token_types, C]; undefined without
};

/// Where a pass through a block stands between its two halves.
struct BlockHalf {
  torch::Tensor residual;  // [B, T, C]: what the block adds to
  HeadContexts heads;
};

/// How one part of a layer joins the residual stream: what it reads, and the stream with what it adds. Dropout acts on
/// what is added.
struct Residual {
  NormOrder order = NormOrder::pre;
  double dropout = 0;
  std::shared_ptr<Norm> norm;

  torch::Tensor read(const torch::Tensor& x) const { return order == NormOrder::pre ? norm->forward(x) : x; }
  torch::Tensor add(const torch::Tensor& x, const torch::Tensor& added, bool training) const;  // [B, T, C]
};

/// With a normalization of its own, registered with `owner` as `name`.
Residual make_residual(torch::nn::Module& owner, const std::string& name, const LayerConfig& config);

/// Attention and feed-forward with their residual connections.
class Block : public torch::nn::Module {
 public:
  explicit Block(const LayerConfig& config);
  /// The first half, up to the gates. `present` [B, S] bool, undefined where nothing is padding. With `first_only`,
  /// positions but the first are looked at and ask nothing, so T is 1 from here on.
  BlockHalf attend(const torch::Tensor& x, const torch::Tensor& present, bool weights, bool first_only = false);
  /// The first half for positions `x` [N, T, C] behind those in `past`, which they join. `present` [N, S]; weights as
  /// KeyValueCache::attend() gives them.
  BlockHalf attend_next(const torch::Tensor& x, KeyValueCache& past, const torch::Tensor& present, bool weights);
  /// The second half, to [B, T, C]. `gates` as in Attention::combine.
  torch::Tensor finish(const BlockHalf& half, const torch::Tensor& gates) const;
  Attention& attention() { return *attention_; }
  const Attention& attention() const { return *attention_; }

 private:
  std::shared_ptr<const Pattern> pattern_;
  std::shared_ptr<Attention> attention_;
  std::shared_ptr<FeedForward> feed_forward_;
  Residual around_attention_, around_feed_forward_;
};

}  // namespace headprune
