// What most scores are made of: a mean over examples with its standard error, for each head. Sums are float64, on the
// CPU, and do not depend on how examples were put into batches beyond rounding.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "score/score.h"

namespace headprune {

/// [H] bool a block, CPU: false at the heads in `removed`.
PerBlock surviving_heads(const Blocks& blocks, const HeadSet& removed);

/// [B, 1, T] bool, on the batch's device: true at the query positions of an attention kind that scores look at, which
/// padding is not. Of an encoder-decoder, those of its decoder's blocks are positions of the target.
torch::Tensor query_mask(const Batch& batch, Kind kind);
/// Which query positions a mean over positions is taken over.
enum class QueryPositions { all, carrying };
template <>
struct EnumNames<QueryPositions> {
  static constexpr std::pair<const char*, QueryPositions> names[] = {{"all", QueryPositions::all},
                                                                     {"carrying", QueryPositions::carrying}};
};
/// The help of the option `positions`.
inline constexpr const char* kPositionsHelp =
    "all: every position that is not padding; carrying: those whose output can reach the prediction, which in the last "
    "block of a classifier that looks at the first position is that one";
/// "positions: all", and the unit where it is not a head.
std::string note_of(QueryPositions positions, HeadUnit unit);
/// query_mask() of block `index`, of carrying positions only where asked for. [B, 1, T]
torch::Tensor query_rows(const Model& model, size_t index, const Batch& batch, QueryPositions positions);
/// [B, 1, T, S] bool, or [B, H, T, S] where heads of the block see different keys: which keys the queries of block
/// `index` may look at, from its pattern and the batch's padding. Rows of queries that are padding say nothing.
torch::Tensor visible_keys(const Model& model, size_t index, const Batch& batch);
/// query_mask(), true at the special tokens among them.
torch::Tensor special_mask(const Batch& batch, Kind kind);

/// Throws Error(run_failed) naming the unit and the example when a surviving unit's value is NaN or infinite.
/// `values` [B, U], `survives` [U].
struct FiniteCheck {
  std::string score;  // named in the message
  const BlockHeads& block;
  const torch::Tensor& survives;
  HeadUnit unit;
};
void require_finite(const torch::Tensor& values, const Batch& batch, const FiniteCheck& check);

/// Mean over examples of one number per example and unit: one pairwise-merged mean and variance a head (Chan, Golub and
/// LeVeque 1979).
class ExampleMean {
 public:
  /// `score` is named in errors.
  ExampleMean(std::string score, const ScoreInput& input);
  const ScoreUnits& units() const { return units_; }
  /// `values` [B, U], any device and type. `counted` [B] bool leaves examples out; undefined: all count.
  void add(size_t block, const torch::Tensor& values, const Batch& batch, const torch::Tensor& counted = {});
  /// Throws Error(run_failed) when no example counted in a block.
  RawScores finish() const;

 private:
  struct Moments {
    int64_t n = 0;
    torch::Tensor mean, squares;  // [U] float64: mean, and summed squares of deviations from it
  };
  struct HalfSum {
    int64_t n = 0;
    torch::Tensor sum;  // [U] float64
  };
  std::string score_;
  ScoreUnits units_;
  PerBlock survives_;
  std::vector<Moments> moments_;
  std::vector<std::array<HalfSum, 2>> halves_;  // of examples with even and with odd index
};

/// Sums of which a ratio of means is made, for U units: sum y / sum n over examples.
struct RatioSums {
  explicit RatioSums(int64_t units);
  /// `values` [B, U] and `counts` [B, 1] or [B, U], float64 on the CPU.
  void add(const torch::Tensor& values, const torch::Tensor& counts);
  /// [U]; 0 where nothing was counted.
  torch::Tensor ratio() const;
  /// [U]: linearised (Cochran 1977, eq. 6.13); 0 for fewer than two examples.
  torch::Tensor standard_error() const;

  int64_t examples = 0;
  torch::Tensor n, nn;      // [1] or [U] float64; undefined before the first add()
  torch::Tensor y, yy, yn;  // [U] float64
};

/// Sum of one number per example and unit, over the sum of one count per example. The standard error is that of
/// RatioSums.
class ExampleRatio {
 public:
  ExampleRatio(std::string score, const ScoreInput& input);
  const ScoreUnits& units() const { return units_; }
  /// `values` [B, U], `counts` [B].
  void add(size_t block, const torch::Tensor& values, const torch::Tensor& counts, const Batch& batch);
  RawScores finish() const;

 private:
  struct Sums : RatioSums {
    explicit Sums(int64_t units);
    std::array<torch::Tensor, 2> half_y;  // [U] float64: of examples with even and with odd index
    std::array<double, 2> half_n = {0, 0};
  };
  std::string score_;
  ScoreUnits units_;
  PerBlock survives_;
  std::vector<Sums> sums_;
};

}  // namespace headprune
