// A score that is a mean over examples of a mean over query positions: options, rows and units are alike, and one file
// a score says which number.
#pragma once

#include "score/accumulate.h"

namespace headprune {

struct PositionOptions {
  QueryPositions positions = QueryPositions::all;
  std::optional<HeadUnit> unit;

  template <class V>
  void fields(V& v) {
    v("positions", positions, kPositionsHelp);
    v("unit", unit, kScoreUnitHelp);
  }
};

class PositionMean : public ScoreMethod {
 public:
  using Options = PositionOptions;
  /// `name` is named in errors.
  PositionMean(const char* name, Options options) : name_(name), options_(options) {}
  HeadUnit unit() const override { return options_.unit.value_or(HeadUnit::query); }
  std::string note() const override { return note_of(options_.positions, unit()); }
  std::unique_ptr<Pass> start(const ScoreInput& input, int64_t draw) const override;

  /// The number of each head and position of block `index`, [B, H, T] float64.
  virtual torch::Tensor values(const Observation& seen, size_t index) const = 0;
  /// Rows that do not count, [B, 1, T] bool; undefined: all do.
  virtual torch::Tensor left_out(const Observation& /*seen*/, Kind /*kind*/) const { return {}; }
  /// What an example's means over positions [B, H] become; 0 at removed heads, `survives` [H].
  virtual torch::Tensor compared(const torch::Tensor& of_heads, const torch::Tensor& /*survives*/) const {
    return of_heads;
  }

 private:
  class Collect;
  const char* name_;
  Options options_;
};

}  // namespace headprune
