// The one attention module of every model family (Vaswani et al. 2017, section 3.2): projections, visibility, gates and
// removal of heads. Letters for shapes: see model/model.h.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/torch.h"
#include "model/linear.h"

namespace headprune {

/// y = x W^T + b. Own module, not torch::nn::Linear: either size may be 0 (a block without heads), and the weights are
/// filled by model/transformer.h's initialise(), not by the process-wide random generator. Starts as zeros.
class Projection : public torch::nn::Module {
 public:
  Projection(int64_t inputs, int64_t outputs);
  torch::Tensor forward(const torch::Tensor& x) const {
    return linear_layer(as_factor(x), as_factor(weight), as_factor(bias)).to(x.scalar_type());
  }
  /// The same for a model's last layer, which keeps every digit.
  torch::Tensor read_out(const torch::Tensor& x) const { return linear_layer(x, weight, bias); }

  torch::Tensor weight;  // [outputs, inputs]
  torch::Tensor bias;    // [outputs]
};

/// How a block is divided into heads. Widths are free of each other and of C / H. `groups` (G) is the number of
/// key/value heads; every head has its own here.
struct HeadLayout {
  int64_t heads = 1;
  int64_t groups = 1;
  int64_t key_width = 1;    // Dk
  int64_t value_width = 1;  // Dv
};

/// Which keys a query may see, padding aside.
enum class Pattern { full, causal };

/// Pattern and padding of one batch, made once and used by every block.
class Visibility {
 public:
  /// `keys_present` [B, S] bool; undefined where nothing is padding, which keeps the fused kernel free of a mask.
  explicit Visibility(Pattern pattern, torch::Tensor keys_present = {});
  Pattern pattern() const { return pattern_; }
  bool padded() const { return keys_present_.defined(); }
  /// [B or 1, 1, T or 1, S] bool on `device`, true = visible; undefined where every query sees every key.
  torch::Tensor mask(int64_t queries, int64_t keys, torch::Device device) const;

 private:
  Pattern pattern_;
  torch::Tensor keys_present_;
};

/// What a block's heads look at, ready for any number of queries: as factors of products (model/linear.h).
struct KeyValues {
  torch::Tensor keys;    // [B, H, S, Dk]
  torch::Tensor values;  // [B, H, S, Dv]
};

/// What a block's heads give, before their gates.
struct HeadContexts {
  torch::Tensor context;  // [B, H, T, Dv]
  torch::Tensor weights;  // [B, H, T, S]; undefined unless asked for
};

class Attention : public torch::nn::Module {
 public:
  /// All parameters are zeros. `dropout` acts on attention weights, in training mode.
  Attention(int64_t d_model, const HeadLayout& layout, double dropout);

  /// `queries` [B, T, C] ask, `keys` [B, S, C] are looked at; the same tensor for self-attention. The fused kernel runs
  /// unless weights are asked for, or dropped on the CPU; both paths give the same numbers. A query that sees no key
  /// gets the context 0.
  HeadContexts attend(const torch::Tensor& queries, const torch::Tensor& keys, const Visibility& visibility,
                      bool weights = false) {
    return attend(queries, project(keys), visibility, weights);
  }
  /// The same in two steps, for keys that serve several calls.
  KeyValues project(const torch::Tensor& keys) const;
  HeadContexts attend(const torch::Tensor& queries, const KeyValues& keys, const Visibility& visibility,
                      bool weights = false);
  /// The block's output [B, T, C] from contexts [B, H, T, Dv]. `gates` [H] or [B, H]; undefined: nothing is multiplied.
  torch::Tensor combine(const torch::Tensor& context, const torch::Tensor& gates = {}) const;

  /// Original ids of the heads present, ascending; row i of a [H] tensor is head heads()[i].
  const std::vector<int64_t>& heads() const { return heads_; }
  /// Deletes rows of query, key, value and columns of the output projection. Ids not present are ignored; with no head
  /// left the module gives its output bias. Parameters keep their identity and lose their .grad; an optimizer that has
  /// state of their old shape must be made anew.
  void remove_heads(const std::vector<int64_t>& ids);

  int64_t d_model() const { return d_model_; }
  int64_t head_count() const { return static_cast<int64_t>(heads_.size()); }
  int64_t key_width() const { return key_width_; }
  int64_t value_width() const { return value_width_; }
  /// Weights [H Dk, C], [H Dk, C], [H Dv, C] and [C, H Dv]: head i of heads() owns the i-th slice of the H axis.
  Projection& query() { return *query_; }
  Projection& key() { return *key_; }
  Projection& value() { return *value_; }
  Projection& output() { return *output_; }

 private:
  torch::Tensor split_heads(const torch::Tensor& x, int64_t width) const;
  torch::Tensor explicit_weights(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& mask) const;

  int64_t d_model_, key_width_, value_width_;
  double dropout_;
  std::vector<int64_t> heads_;
  std::shared_ptr<Projection> query_, key_, value_, output_;
};

}  // namespace headprune
