// Heads that do what another one does: how far apart the attention of two heads is (Jensen-Shannon divergence, natural
// logarithm, so between 0 and ln 2), how alike what they write is (linear CKA, Kornblith et al. 2019, with the debiased
// HSIC of Song et al. 2012, eq. 5, averaged over batches as Nguyen et al. 2021 do), and in which direction (mean
// cosine). Outputs are projected: contexts of two heads live in bases that have nothing to do with each other.
#include <algorithm>
#include <cmath>

#include "analysis/analysis.h"
#include "core/text.h"
#include "score/head_pairs.h"

namespace headprune {
namespace {

class RedundancyPart final : public Analysis::Part {
 public:
  explicit RedundancyPart(const PairPlaces& places) : look(places) {}
  void see(const BlockView& view) override {
    look.see(view.index, {.context = view.context, .weights = view.weights}, view.visible);
  }
  PairLook look;
};

class Redundancy final : public Analysis {
 public:
  struct Options : HeadPairOptions {
    int64_t pairs = 50;
    double cut = 0.7;

    template <class V>
    void fields(V& v) {
      HeadPairOptions::fields(v);
      v("pairs", pairs, "how many pairs the table shows, the closest first; all are in the matrix", between(1, 300));
      v("cut", cut,
        "heads are one cluster where average linkage joins them at no more than this share of the largest distance at "
        "which it joins any (0.7: where scipy's dendrograms begin to colour)",
        between(0, 1));
    }
  };
  explicit Redundancy(Options options) : options_(options) {}
  std::unique_ptr<Pass> start(const AnalysisInput& input) const override {
    return std::make_unique<Collect>(options_, input);
  }

 private:
  class Collect final : public Pass {
   public:
    Collect(const Options& options, const AnalysisInput& input)
        : options_(options),
          places_(input.model),
          batches_(pair_batches(input.split.examples, options, input.model.parameters().front().device())),
          sums_(places_.heads) {}
    const std::vector<Batch>* own_batches() const override { return &batches_; }
    std::unique_ptr<Part> look(const Batch&) const override { return std::make_unique<RedundancyPart>(places_); }
    void add(const Part& part) override { sums_ += dynamic_cast<const RedundancyPart&>(part).look.sums; }
    AnalysisResult finish() override;

   private:
    /// The smallest (or largest) value of a row beside its own, by block.
    HeadColumn nearest(const std::string& name, const torch::Tensor& matrix, bool smallest) const;
    AnalysisTable pairs_table(const PairMatrices& matrices, int64_t& incomparable) const;
    AnalysisTable clusters_table(const Distances& distances) const;
    HeadMatrix recorded(const torch::Tensor& matrix, HeadMeasure measure) const;

    const Options& options_;
    PairPlaces places_;
    std::vector<Batch> batches_;
    PairSums sums_;
  };

  Options options_;
};

HeadColumn Redundancy::Collect::nearest(const std::string& name, const torch::Tensor& matrix, bool smallest) const {
  HeadColumn column{.name = name};
  torch::Tensor others = matrix.clone();
  others.diagonal().fill_(NAN);
  const double worst = smallest ? INFINITY : -INFINITY;
  others = torch::where(others.isnan(), torch::full_like(others, worst), others);
  const torch::Tensor found = smallest ? others.amin(1) : others.amax(1);  // [N]
  for (size_t b = 0; b < places_.blocks.size(); ++b) {
    const torch::Tensor of_block = found.narrow(0, places_.first[b], places_.blocks[b].count()).clone();  // [H]
    const bool known = places_.blocks[b].count() > 0 && of_block.isfinite().all().item<bool>();
    column.values.push_back(known ? of_block : torch::Tensor());
    column.stderr_.emplace_back();
    column.baseline.emplace_back();
    column.n.push_back(0);
    column.examples.push_back(0);
  }
  return column;
}

AnalysisTable Redundancy::Collect::pairs_table(const PairMatrices& matrices, int64_t& incomparable) const {
  const std::vector<HeadId> heads = all_heads(places_.blocks);
  const torch::Tensor apart = matrices.distance(options_.measure);
  std::vector<std::pair<double, std::pair<int64_t, int64_t>>> pairs;
  for (int64_t a = 0; a < std::ssize(heads); ++a)
    for (int64_t b = a + 1; b < std::ssize(heads); ++b) {
      const double distance = apart[a][b].item<double>();
      if (std::isfinite(distance))
        pairs.push_back({distance, {a, b}});
      else
        ++incomparable;
    }
  std::sort(pairs.begin(), pairs.end());
  if (std::ssize(pairs) > options_.pairs) pairs.resize(static_cast<size_t>(options_.pairs));
  AnalysisTable table{.name = "pairs", .header = {"head", "other", "js", "cka", "cosine"}, .rows = {}};
  const auto cell = [](const torch::Tensor& matrix, int64_t a, int64_t b) {
    const double value = matrix[a][b].item<double>();
    return std::isfinite(value) ? Json(value) : Json();
  };
  for (const auto& [distance, pair] : pairs) {
    const auto& [a, b] = pair;
    table.rows.push_back({to_string(heads[static_cast<size_t>(a)]), to_string(heads[static_cast<size_t>(b)]),
                          cell(matrices.js, a, b), cell(matrices.cka, a, b), cell(matrices.cosine, a, b)});
  }
  return table;
}

AnalysisTable Redundancy::Collect::clusters_table(const Distances& distances) const {
  const std::vector<HeadId> heads = all_heads(places_.blocks);
  AnalysisTable table{.name = "clusters", .header = {"cluster", "members", "heads", "mean_distance"}, .rows = {}};
  for (const LinkageTree& tree : average_linkage(distances)) {
    const double most = tree.merges.empty() ? 0 : tree.merges.back().distance;
    for (const std::vector<int64_t>& members : tree.clusters(options_.cut * most)) {
      std::vector<std::string> names;
      double sum = 0, count = 0;
      for (const int64_t a : members) {
        names.push_back(to_string(heads[static_cast<size_t>(a)]));
        for (const int64_t b : members)
          if (a < b) sum += distances.at(a, b), ++count;
      }
      table.rows.push_back({fmt::format("{}", table.rows.size() + 1), join(names, " "), std::ssize(members),
                            count > 0 ? Json(sum / count) : Json()});
    }
  }
  return table;
}

HeadMatrix Redundancy::Collect::recorded(const torch::Tensor& matrix, HeadMeasure measure) const {
  HeadMatrix recorded{.name = enum_name(measure),
                      .similarity = measure != HeadMeasure::js,
                      .cut = measure == options_.measure ? std::optional(options_.cut) : std::nullopt,
                      .rows = {}};
  const Distances all = distances_of(matrix);
  for (int64_t a = 0; a < all.count; ++a) {
    recorded.rows.emplace_back();
    for (int64_t b = 0; b <= a; ++b) recorded.rows.back().push_back(all.at(a, b));
  }
  return recorded;
}

AnalysisResult Redundancy::Collect::finish() {
  AnalysisResult result;
  const PairMatrices matrices = sums_.matrices();
  result.columns = {nearest("js_nearest", matrices.js, true), nearest("cka_nearest", matrices.cka, false),
                    nearest("cosine_nearest", matrices.cosine, false)};
  result.matrices = {recorded(matrices.js, HeadMeasure::js), recorded(matrices.cka, HeadMeasure::cka),
                     recorded(matrices.cosine, HeadMeasure::cosine)};
  int64_t incomparable = 0;
  result.tables.push_back(pairs_table(matrices, incomparable));
  result.tables.push_back(clusters_table(distances_of(matrices.distance(options_.measure))));
  result.notes.push_back(
      fmt::format("the first {} tokens of each text; js is between 0 (the same attention) and {:.3f}",
                  options_.max_tokens, std::log(2.0)));
  const std::string distance =
      options_.measure == HeadMeasure::js ? "js" : fmt::format("1 - {}", enum_name(options_.measure));
  result.notes.push_back(fmt::format("clusters: average linkage on {}, joined at no more than {} of the largest merge",
                                     distance, options_.cut));
  if (incomparable > 0)
    result.notes.push_back(
        options_.measure == HeadMeasure::js
            ? fmt::format("{} pairs of heads see different keys and have no distance of attention", incomparable)
            : fmt::format("{} pairs of heads cannot be compared by {}", incomparable, enum_name(options_.measure)));
  return result;
}

const Register<Analysis, Redundancy> register_redundancy{
    "redundancy", "pairs and clusters of heads that attend alike, or write alike"};

}  // namespace
}  // namespace headprune
