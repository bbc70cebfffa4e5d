// The one attention module of every model family (Vaswani et al. 2017, section 3.2): projections, gates and removal of
// heads. What varies is given by small types: the layout of heads, positions (attention_positions.h), the pattern
// (pattern.h).
// Letters for shapes: see model/model.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/heads.h"
#include "model/attention_positions.h"
#include "model/norm.h"
#include "model/pattern.h"
#include "model/projection.h"

namespace headprune {

/// How an intact block is divided into heads. Widths are free of each other and of C / H. Query head h reads the keys
/// and values of group h div (H / G) (Ainslie et al. 2023); `groups` divides `heads`.
struct HeadLayout {
  int64_t heads = 1;        // H
  int64_t groups = 1;       // G
  int64_t key_width = 1;    // Dk
  int64_t value_width = 1;  // Dv

  int64_t heads_per_group() const { return heads / groups; }
  int64_t group_of(int64_t head) const { return head / heads_per_group(); }
};

struct AttentionConfig {
  int64_t d_model = 0;
  HeadLayout layout;
  double dropout = 0;                        // of attention weights, in training mode
  bool bias = true, output_bias = true;      // of query, key and value; of the output projection
  std::optional<NormConfig> head_norm = {};  // of each query and key, over a head's width, before positions
  /// Null where positions are no matter of attention.
  std::shared_ptr<AttentionPositions> positions = {};
  bool own_positions = false;  // this layer's alone: their parameters are the module's
  SharedProducts products = {};
};

/// What a block's groups offer, ready for any number of queries: as factors of products (model/linear.h).
struct KeyValues {
  torch::Tensor keys;    // [B, G, S, Dk]
  torch::Tensor values;  // [B, G, S, Dv]
};

/// What a block's heads give, before their gates.
struct HeadContexts {
  torch::Tensor context;  // [B, H, T, Dv]
  torch::Tensor weights;  // [B, H, T, S]; undefined unless asked for
};

/// What heads cost, the output bias aside.
struct AttentionCost {
  int64_t params = 0;
  int64_t flops_per_token = 0;        // multiply-adds x 2
  int64_t cache_bytes_per_token = 0;  // keys and values of one token, in the type of the weights
};

class Attention : public torch::nn::Module {
 public:
  /// All parameters are zeros, head norms aside.
  explicit Attention(const AttentionConfig& config);

  /// `queries` [B, T, C] ask, `keys` [B, S, C] are looked at; the same tensor for self-attention. The fused kernel runs
  /// unless weights are asked for, or dropped on the CPU; both paths give the same numbers. A query that sees no key
  /// gets the context 0.
  HeadContexts attend(const torch::Tensor& queries, const torch::Tensor& keys, const Visibility& visibility,
                      bool weights = false) {
    return attend(queries, project(keys), visibility, weights);
  }
  /// The same in two steps, for keys that serve several calls. `first`: the position of the first key, or query.
  KeyValues project(const torch::Tensor& keys, int64_t first = 0) const;
  HeadContexts attend(const torch::Tensor& queries, const KeyValues& keys, const Visibility& visibility,
                      bool weights = false, int64_t first = 0);
  /// The block's output [B, T, C] from contexts [B, H, T, Dv]. `gates` [H] or [B, H]; undefined: nothing is multiplied.
  torch::Tensor combine(const torch::Tensor& context, const torch::Tensor& gates = {}) const;

  /// Original ids of the heads present, ascending; row i of a [H] tensor is head heads()[i].
  const std::vector<int64_t>& heads() const { return heads_; }
  int64_t heads_per_group() const { return config_.layout.heads_per_group(); }
  /// Original ids of the groups that some head present reads, ascending.
  const std::vector<int64_t>& groups() const { return groups_; }
  /// Deletes rows of the query and columns of the output projection, and rows of key and value of groups that nobody
  /// reads any more. Ids not present are ignored; with no head left the module gives its output bias. Parameters keep
  /// their identity and lose their .grad; an optimizer that has state of their old shape must be made anew. What the
  /// heads of a layer share of positions stays.
  void remove_heads(const std::vector<int64_t>& ids);

  /// Of the heads present but those in `without`: parameters, and multiply-adds x 2 for one token of a text of `keys`
  /// keys, which looks at as many of them as `pattern` shows any query. Keys and values of a group count once.
  AttentionCost cost(int64_t keys, const std::vector<int64_t>& without = {},
                     const Pattern& pattern = *full_pattern()) const;

  int64_t d_model() const { return config_.d_model; }
  int64_t head_count() const { return static_cast<int64_t>(heads_.size()); }
  int64_t key_width() const { return config_.layout.key_width; }
  int64_t value_width() const { return config_.layout.value_width; }
  /// Weights [H Dk, C], [G Dk, C], [G Dv, C] and [C, H Dv]: head i of heads() owns the i-th slice of the H axis, group
  /// i of groups() that of the G axis.
  Projection& query() { return *query_; }
  Projection& key() { return *key_; }
  Projection& value() { return *value_; }
  Projection& output() { return *output_; }
  /// Parameters of positions that go with their heads.
  std::vector<HeadRows> position_rows() const { return positions_ ? positions_->head_rows() : std::vector<HeadRows>(); }

 private:
  /// Factors of one call's products, and who sees whom.
  struct Call {
    torch::Tensor q, k, v;  // [B, H, T or S, D]
    Extent extent;
    torch::Tensor mask;   // as Visibility::mask()
    bool causal = false;  // in place of a mask: the fused kernel's own form
  };
  /// Groups that `heads` read.
  std::vector<int64_t> groups_of(const std::vector<int64_t>& heads) const;
  /// [B, G, S, D] to one row for each head, [B, H, S, D]; the same tensor where every head has its own.
  torch::Tensor for_heads(const torch::Tensor& of_groups) const;
  double scale() const;
  /// Whether the fused kernel cannot be asked.
  bool is_explicit(const torch::Tensor& q, bool weights) const;
  HeadContexts explicit_contexts(const Call& call, const torch::Tensor& bias) const;
  /// What heads give in one call. With `weights`, attention weights too.
  HeadContexts contexts(const Call& call, bool weights) const;
  /// The same where no query sees beyond `reach`, without looking there; nothing where that is no less work.
  std::optional<HeadContexts> near_contexts(const Call& call, const Visibility& visibility) const;

  AttentionConfig config_;
  std::vector<int64_t> heads_, groups_;
  std::shared_ptr<Projection> query_, key_, value_, output_;
  std::shared_ptr<Norm> query_norm_, key_norm_;    // null without
  std::shared_ptr<AttentionPositions> positions_;  // null without
};

/// What Model::blocks() says of a block.
BlockHeads heads_present(const BlockId& id, const Attention& attention);

}  // namespace headprune
