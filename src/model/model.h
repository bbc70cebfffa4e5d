// What every model family offers. The forward pass is a function: what a caller wants done to the heads, or to see of
// them, goes in as a HeadProbe and comes out as a HeadTrace; modules carry no hidden mode beyond train()/eval().
//
// Letters for shapes, here and everywhere: B batch, T query positions, S key positions, C = d_model, H heads of a block
// that are present, G key/value heads, L layers, Dk and Dv per-head widths of keys and values, N examples.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/heads.h"
#include "core/torch.h"
#include "data/batch.h"

namespace headprune {

/// One tensor for each block, in the order of Model::blocks(). Blocks differ in head count, down to none, so nothing is
/// ever a square of layers and heads.
using PerBlock = std::vector<torch::Tensor>;

using NamedTensors = std::map<std::string, torch::Tensor>;

/// Those of one block, from gates that may be absent for all blocks or for some.
torch::Tensor gates_of(const PerBlock& gates, size_t block);

struct HeadContexts;  // model/attention.h
/// Looks at the heads of block `index` of Model::blocks(), attention weights included.
using SeeBlock = std::function<void(size_t index, const HeadContexts& heads)>;

struct HeadProbe {
  PerBlock gates;         // [H] or [B, H] each; no entries, or an undefined one: nothing is multiplied
  bool weights = false;   // return attention weights (this forces the explicit path)
  bool contexts = false;  // return contexts, before their gates
  /// Called when a block's heads are through (on the explicit path): what it does not keep is freed before the next
  /// block runs, where `weights` keeps those of all blocks. Empty: nobody looks.
  SeeBlock see = {};
};

struct HeadTrace {
  PerBlock weights;   // [B, H, T, S] each, after softmax, 0 where not visible; empty unless asked for
  PerBlock contexts;  // [B, H, T, Dv] each; empty unless asked for
};

/// A forward pass that stopped in one block, after its heads' contexts and before their gates: what masks that change
/// nothing below that block share.
struct Paused {
  size_t block = 0;        // index into Model::blocks()
  torch::Tensor residual;  // [B, T, C]: what the block adds to
  torch::Tensor context;   // [B, H, T, Dv]
  torch::Tensor memory;    // encoder-decoder, in its decoder: the encoder's states [B, S, C]
  /// Memory that the tensors hold.
  int64_t bytes() const;
};

struct ModelOutput {
  torch::Tensor values;  // classification: logits [B, labels]; regression: [B, 1]; others: logits [B, T, vocabulary]
  torch::Tensor memory;  // encoder-decoder: the encoder's states [B, S, C]
  HeadTrace heads;
};

/// Tokens of the texts that a cost is counted for.
struct TextLengths {
  int64_t tokens = 0;          // of the sequence; of a translation, of its source
  int64_t decoder_tokens = 0;  // of a translation, of its target; 0 elsewhere

  /// What a query of this kind looks at.
  int64_t keys(Kind kind) const { return kind == Kind::decoder && decoder_tokens > 0 ? decoder_tokens : tokens; }
};

class Attention;       // model/attention.h
class Pattern;         // model/pattern.h
class SequenceWriter;  // model/writer.h

class Model : public torch::nn::Module {
 public:
  /// The heads present, by original id, in the order kind, then layer. A block that lost all heads stays, empty.
  virtual Blocks blocks() const = 0;
  /// Indices into blocks() in the order in which a pass meets them: what a block's contexts depend on stands before it.
  virtual std::vector<size_t> order() const;
  /// Defined for every gate and every mask, also with no head left anywhere.
  virtual ModelOutput forward(const Batch& batch, const HeadProbe& probe = {}) = 0;
  /// Runs a batch, all gates 1, up to the gates of `block`, from the beginning or from where `before`, a pause in a
  /// block that stands before it in order(), stopped. A family without a way to stop in the middle (this default) keeps
  /// nothing.
  virtual Paused pause(const Batch& batch, size_t block, const Paused* before = nullptr);
  /// Runs the rest of a paused pass: the same values as forward() with these gates, which are 1 below that block.
  virtual ModelOutput resume(const Batch& batch, const Paused& paused, const PerBlock& gates);
  /// Physically removes heads; ids not present are ignored. Works repeatedly, down to no head at all.
  virtual void remove_heads(const HeadSet& removed) = 0;
  /// Whether only the first position of what block `index` gives can reach the prediction: the last block of a
  /// classifier that looks there.
  virtual bool first_position_only(size_t /*index*/) const { return false; }
  /// Which keys the queries of block `index` may see, padding aside; null where that is every key.
  virtual std::shared_ptr<const Pattern> pattern(size_t /*index*/) const { return nullptr; }
  /// The attention module of block `index` of blocks(), for scores that look at weights.
  virtual Attention& attention(size_t index) = 0;
  /// An independent deep copy (weights, heads, train/eval state).
  virtual std::shared_ptr<Model> copy() const = 0;
  /// The folder of another tool that it was loaded from, for files in it that mean nothing here; empty elsewhere.
  virtual std::filesystem::path source_folder() const { return {}; }
  /// The same model as one that writes texts; null for one that does not.
  virtual SequenceWriter* writer() { return nullptr; }
  /// config.json as docs/formats.md section 6 has it, with "headprune":{"removed","heads"} when heads were removed.
  virtual Json config() const = 0;
  /// What model.safetensors holds, under the names and in the orientation of the folder that config() describes.
  virtual NamedTensors tensors() const;
  /// How many layers stand above the one that a parameter belongs to: none above the last layer and what follows it,
  /// all above the embeddings. Nothing for a model that has no layers.
  virtual std::optional<int64_t> layers_above(const std::string& /*parameter*/) const { return std::nullopt; }
};

/// Number of parameters.
int64_t parameter_count(const Model& model);
/// Gates [H] a block, float32 on `device`: 0 for heads in `removed`, else 1; undefined for a block that loses none.
PerBlock mask_gates(const Blocks& blocks, const HeadSet& removed, torch::Device device);
/// Evaluation mode and no weight gradients while it lives; restores both, on a throw too.
class FrozenModel {
 public:
  explicit FrozenModel(Model& model);
  ~FrozenModel();
  FrozenModel(const FrozenModel&) = delete;
  FrozenModel& operator=(const FrozenModel&) = delete;

 private:
  Model& model_;
  bool training_;
  std::vector<std::pair<torch::Tensor, bool>> requires_grad_;
};

}  // namespace headprune
