// What heads do: the interface of an analysis, and the one driver that runs them. Analyses look at attention weights
// block by block, in one pass for all that look at the same texts; a block's weights are freed before the next runs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/registry.h"
#include "data/batch.h"
#include "model/transformer_model.h"
#include "record/analysis_events.h"

namespace headprune {

/// One block of one batch, all heads present, gates 1.
struct BlockView {
  size_t index = 0;  // into Model::blocks()
  const BlockHeads& block;
  const Batch& batch;
  torch::Tensor weights;  // [B, H, T, S], after softmax
  torch::Tensor context;  // [B, H, T, Dv]
  torch::Tensor visible;  // [B, 1, T, S] bool: what the queries may look at; all false in rows of padding
  torch::Tensor largest;  // [B, H, T] int64: the key with the largest weight; -1 where two share it
  /// [B, 1, T] bool: queries that have a choice, which see two keys or more.
  torch::Tensor choosing() const { return visible.sum(-1) > 1; }
  /// Ids of the keys, [B, S]: the decoder's own where it looks at itself beside an encoder.
  const torch::Tensor& key_ids() const;
  /// [B, S] bool: keys that are not padding.
  const torch::Tensor& key_present() const;
  /// Whether queries and keys are positions of one text.
  bool self_attention() const { return block.id.kind != Kind::cross; }
};

/// The place with the largest weight of each row of [..., S]; -1 where two share it.
torch::Tensor largest_keys(const torch::Tensor& weights);

/// One number a head, under a name.
struct HeadColumn {
  std::string name;
  PerBlock values = {};   // float64 [H], CPU; undefined for a block that the column says nothing of
  PerBlock stderr_ = {};  // float64 [H]; undefined where there is none
  /// What the numbers of a block are compared with, as a rule those of a head that looks at all it sees alike.
  std::vector<std::optional<double>> baseline = {};
  std::vector<int64_t> n = {}, examples = {};  // queries counted in each block, and the texts that they stand in
  bool difference = false;                     // of two shares, so that it may be below 0
};

/// That a head does something.
struct HeadRole {
  size_t block = 0;                        // into Model::blocks()
  int64_t position = 0;                    // on the block's axis of heads
  std::string role;                        // "positional"
  std::string detail;                      // "offset -1"; may be empty
  std::string column;                      // which says so, of the same analysis
  std::optional<ShareFact> evidence = {};  // where it is not the column's own number, but that of other texts
};

struct AnalysisResult {
  std::vector<HeadColumn> columns;
  std::vector<HeadRole> roles;
  std::vector<RoleStrength> strengths;  // which column says how much of a role a head has
  std::vector<AnalysisTable> tables;    // what is no number of one head
  std::vector<HeadMatrix> matrices;     // numbers of two heads
  std::vector<std::string> notes;       // what a reader of the numbers has to know
  int64_t examples = 0, forward = 0;    // texts, and batches
  double dur_s = 0;                     // of the pass that it shared
};

struct AnalysisInput {
  TransformerModel& model;
  const Dataset& dataset;
  const Split& split;                 // of `analyses.split`
  const std::vector<Batch>& batches;  // of that split
  uint64_t seed = 0;
  std::function<void()> on_batch = {};  // one more is done; may be empty
};

/// One analysis. It may depend on options only through itself: the same options and input give the same bytes.
class Analysis {
 public:
  /// What is kept of one batch.
  class Part {
   public:
    virtual ~Part() = default;
    virtual void see(const BlockView& view) = 0;
  };
  /// Collects the parts.
  class Pass {
   public:
    virtual ~Pass() = default;
    /// Texts of its own; null where it looks at the split.
    virtual const std::vector<Batch>* own_batches() const { return nullptr; }
    /// Called from several threads; each part is seen by one.
    virtual std::unique_ptr<Part> look(const Batch& batch) const = 0;
    /// In the order of the batches.
    virtual void add(const Part& part) = 0;
    virtual AnalysisResult finish() = 0;
  };
  virtual ~Analysis() = default;
  /// Files it reads, for the run's record and hash.
  virtual std::vector<InputFile> inputs() const { return {}; }
  /// The roles that it may give, for what goes by them.
  virtual std::vector<std::string> roles() const { return {}; }
  /// Throws Error(usage) where it cannot look at such a model (an outline, without values), or at these data.
  virtual void check(const TransformerModel& /*model*/, const Dataset& /*dataset*/) const {}
  virtual std::unique_ptr<Pass> start(const AnalysisInput& input) const = 0;
};

/// Throws Error(usage) where heads of one block see different keys: a column of a block has one baseline, that of a
/// head which looks at all it sees alike.
void require_like_heads(const Model& model);

/// One result for each of `analyses`, in their order. Evaluation mode, no gradients, weights left as they are. Looks
/// for a stop request between batches.
std::vector<AnalysisResult> analyse(const std::vector<std::shared_ptr<const Analysis>>& analyses,
                                    const AnalysisInput& input);

}  // namespace headprune
