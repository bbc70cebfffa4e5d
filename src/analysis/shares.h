// What most analyses are made of: columns that are a mean over queries, of all texts together, with its standard error
// over texts.
#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"

namespace headprune {

/// What one block of a batch adds to a column. Undefined tensors: the column says nothing of this block.
struct Share {
  torch::Tensor values;    // [B, H]: sum over the queries that count of a number between 0 and 1
  torch::Tensor counts;    // [B]: how many queries count
  torch::Tensor baseline;  // [B]: the sum that a head has which looks at all it sees alike
};

/// Of queries that count [B, 1, T] bool: the weight that they give to the keys of `to` [B, 1, T or 1, S] bool.
Share weight_share(const BlockView& view, const torch::Tensor& to, const torch::Tensor& queries);
/// The same, of 1 where the largest weight of a row, and of no other key, is that of a key of `to`, else 0.
Share largest_share(const BlockView& view, const torch::Tensor& to, const torch::Tensor& queries);

/// The columns of an analysis: one share each, in the order of the names, or none for a block that they say nothing of.
class Shares final : public Analysis::Pass {
 public:
  using Look = std::function<std::vector<Share>(const BlockView&)>;
  using Conclude = std::function<void(AnalysisResult&)>;
  /// `look` is called from several threads. `conclude` finds roles in the columns. `own`: texts other than the split's.
  Shares(std::vector<std::string> columns, const AnalysisInput& input, Look look, Conclude conclude,
         std::optional<std::vector<Batch>> own = {});
  const std::vector<Batch>* own_batches() const override { return own_ ? &*own_ : nullptr; }
  ~Shares() override;
  std::unique_ptr<Analysis::Part> look(const Batch& batch) const override;
  void add(const Analysis::Part& part) override;
  AnalysisResult finish() override;

 private:
  struct Sums;
  std::vector<std::string> names_;
  Look look_;
  Conclude conclude_;
  std::optional<std::vector<Batch>> own_;
  std::vector<std::vector<Sums>> sums_;  // by block, then column
};

enum class Largest { value, above_baseline };
/// Head by head the largest of several columns, which have no baseline or standard error together.
HeadColumn largest_of(const std::string& name, const std::vector<const HeadColumn*>& columns, Largest what);

/// A head whose column is at least `threshold`, and more than what looking at all alike would give it by more than its
/// standard error allows (95 %), has the role.
struct RoleRule {
  std::string column, role, detail;
  double threshold = 0;
};
/// Gives each head the role of the rule whose column is the largest, of those that it fulfils. How much of the role a
/// head has is the column, or of several a new one of the role's name: the largest of them.
void find_role(const std::vector<RoleRule>& rules, AnalysisResult& result);

}  // namespace headprune
