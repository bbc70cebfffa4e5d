// How far apart the heads of a model are, two by two: Jensen-Shannon divergence of their attention, linear CKA and
// cosine of what they write (docs/definitions.md "Analyses", `redundancy`).
#pragma once

#include "model/attention.h"
#include "score/score.h"
#include "stats/linkage.h"

namespace headprune {

enum class HeadMeasure { js, cka, cosine };
template <>
struct EnumNames<HeadMeasure> {
  static constexpr std::pair<const char*, HeadMeasure> names[] = {
      {"js", HeadMeasure::js}, {"cka", HeadMeasure::cka}, {"cosine", HeadMeasure::cosine}};
};

/// Which texts pairs of heads are compared on, and by what.
struct HeadPairOptions {
  HeadMeasure measure = HeadMeasure::js;
  int64_t texts = 32;
  int64_t max_tokens = 64;

  template <class V>
  void fields(V& v) {
    v("measure", measure,
      "what makes heads near: js, divergence of their attention; cka or cosine, 1 less that of what they write, from "
      "0");
    v("texts", texts, "how many texts, the first of the split", at_least(1));
    v("max_tokens", max_tokens, "tokens of a text that are looked at, from its beginning", at_least(4));
  }
};

/// The texts, in batches that do not depend on others.
std::vector<Batch> pair_batches(const std::vector<Example>& examples, const HeadPairOptions& options,
                                torch::Device device);

/// [N, N] each, float64, N the heads of all blocks in their order; NaN where two cannot be compared.
struct PairMatrices {
  torch::Tensor js, cka, cosine;
  /// From 0 on: js, or 1 less a similarity, never below 0.
  torch::Tensor distance(HeadMeasure measure) const;
};
/// For statistics that know no tensors.
Distances distances_of(const torch::Tensor& matrix);

/// Sums over batches, [N, N] float64; the upper half is filled.
struct PairSums {
  explicit PairSums(int64_t heads);
  void operator+=(const PairSums& other);
  PairMatrices matrices() const;

  torch::Tensor js, rows;         // divergence, and the queries that it is summed over
  torch::Tensor hsic;             // debiased, n (n - 3) times
  torch::Tensor cosine, outputs;  // cosine, and the positions that it is summed over
};

/// Where the heads of a model stand among all, and how they write.
struct PairPlaces {
  explicit PairPlaces(Model& model);

  Blocks blocks;
  std::vector<int64_t> first;         // place of a block's first head among all
  std::vector<torch::Tensor> output;  // [H, C, Dv] a block
  int64_t heads = 0;
};

/// Pairs of heads on one batch, seen block by block.
class PairLook {
 public:
  explicit PairLook(const PairPlaces& places) : places_(places), sums(places.heads) {}
  /// `visible` [B, 1, T, S]: what queries that are no padding may look at.
  void see(size_t block, const HeadContexts& heads, const torch::Tensor& visible);

 private:
  /// What is kept of a block until the pass is over.
  struct Seen {
    int64_t first = 0;
    Kind kind = Kind::encoder;
    torch::Tensor weights, entropy;  // [B, H, T, S] and [B, H, T]
    torch::Tensor visible, counted;  // [B, 1, T, S] and [B, 1, T]
    torch::Tensor directions, gram;  // [H, n, C], rows of length 1; [H, n n], without its diagonal
    torch::Tensor gram_sums;         // [H, n]
  };
  void compare(const Seen& a, const Seen& b);

  const PairPlaces& places_;
  std::vector<Seen> seen_;

 public:
  PairSums sums;
};

}  // namespace headprune
