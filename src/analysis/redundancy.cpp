// Heads that do what another one does: how far apart the attention of two heads is (Jensen-Shannon divergence, natural
// logarithm, so between 0 and ln 2), how alike what they write is (linear CKA, Kornblith et al. 2019, with the debiased
// HSIC of Song et al. 2012, eq. 5, averaged over batches as Nguyen et al. 2021 do), and in which direction (mean
// cosine). Outputs are projected: contexts of two heads live in bases that have nothing to do with each other.
#include <algorithm>
#include <cmath>

#include "analysis/analysis.h"
#include "model/attention.h"

namespace headprune {
namespace {

constexpr int64_t kLeastRows = 4;  // of the debiased HSIC

/// Sums over batches, [N, N] float64; the upper half is filled.
struct PairSums {
  explicit PairSums(int64_t heads)
      : js(torch::zeros({heads, heads}, torch::kFloat64)),
        rows(torch::zeros_like(js)),
        hsic(torch::zeros_like(js)),
        cosine(torch::zeros_like(js)),
        outputs(torch::zeros_like(js)) {}
  void operator+=(const PairSums& other) {
    js += other.js, rows += other.rows, hsic += other.hsic, cosine += other.cosine, outputs += other.outputs;
  }
  torch::Tensor js, rows;         // divergence, and the queries that it is summed over
  torch::Tensor hsic;             // debiased, n (n - 3) times
  torch::Tensor cosine, outputs;  // cosine, and the positions that it is summed over
};

/// What is kept of a block until the pass is over.
struct Seen {
  int64_t first = 0;  // place of its first head among all
  Kind kind = Kind::encoder;
  torch::Tensor weights, entropy;  // [B, H, T, S] and [B, H, T]
  torch::Tensor visible, counted;  // [B, 1, T, S] and [B, 1, T]
  torch::Tensor directions, gram;  // [H, n, C], rows of length 1; [H, n n], without its diagonal
  torch::Tensor gram_sums;         // [H, n]
};

torch::Tensor entropy_of(const torch::Tensor& weights) { return at::special_entr(weights).sum(-1); }

class RedundancyPart final : public Analysis::Part {
 public:
  using OutputWeights = std::vector<torch::Tensor>;  // [H, C, Dv] a block
  RedundancyPart(const std::vector<int64_t>& first, const OutputWeights& output, int64_t heads)
      : first_(first), output_(output), sums(heads) {}

  void see(const BlockView& view) override {
    Seen now = look(view);
    for (const Seen& before : seen_) compare(before, now);
    compare(now, now);
    seen_.push_back(std::move(now));
  }

 private:
  Seen look(const BlockView& view) const {
    Seen now;
    now.first = first_[view.index];
    now.kind = view.block.id.kind;
    now.weights = view.weights;
    now.entropy = entropy_of(view.weights);  // [B, H, T]
    now.visible = view.visible;
    now.counted = view.choosing();
    const torch::Tensor present = view.visible.any(-1).squeeze(1);                 // [B, T]
    const torch::Tensor contexts = view.context.transpose(1, 2).index({present});  // [n, H, Dv]
    const torch::Tensor outputs =
        torch::einsum("nhv,hcv->hnc", {contexts, output_[view.index]}).to(torch::kFloat64);  // [H, n, C]
    now.directions = outputs / outputs.norm(2, -1, true).clamp_min(1e-30);                   // [H, n, C]
    // A shift changes nothing of the debiased HSIC but its rounding, which can be all of it where outputs hardly vary.
    const torch::Tensor centred = outputs - outputs.mean(1, true);  // [H, n, C]
    torch::Tensor gram = centred.matmul(centred.transpose(1, 2));   // [H, n, n]
    gram.diagonal(0, 1, 2).zero_();
    now.gram_sums = gram.sum(-1);  // [H, n]
    now.gram = gram.flatten(1);    // [H, n n]
    return now;
  }

  void compare(const Seen& a, const Seen& b) {
    const int64_t rows = a.weights.size(1), columns = b.weights.size(1), n = a.gram_sums.size(1);
    const auto place = [&](torch::Tensor& matrix) {
      return matrix.narrow(0, a.first, rows).narrow(1, b.first, columns);  // [H, H']
    };
    if (a.kind == b.kind && a.visible.equal(b.visible)) {
      const double counted = a.counted.sum().item<double>();
      for (int64_t h = 0; h < rows; ++h) {
        const torch::Tensor middle = (a.weights.narrow(1, h, 1) + b.weights) / 2;                   // [B, H', T, S]
        const torch::Tensor js = entropy_of(middle) - (a.entropy.narrow(1, h, 1) + b.entropy) / 2;  // [B, H', T]
        place(sums.js)[h] += (js.to(torch::kFloat64) * a.counted).sum({0, 2}).clamp_min(0).cpu();   // [H']
      }
      place(sums.rows) += counted;
    }
    // Outputs of the encoder and of the decoder are of other positions.
    if (a.directions.size(1) != b.directions.size(1) || (a.kind == Kind::encoder) != (b.kind == Kind::encoder)) return;
    place(sums.cosine) += a.directions.flatten(1).matmul(b.directions.flatten(1).t()).cpu();  // [H, H']
    place(sums.outputs) += static_cast<double>(n);
    if (n < kLeastRows) return;
    const auto size = static_cast<double>(n);
    const torch::Tensor traces = a.gram.matmul(b.gram.t());                               // [H, H']
    const torch::Tensor totals = a.gram_sums.sum(-1).unsqueeze(1) * b.gram_sums.sum(-1);  // [H, H']
    const torch::Tensor crossed = a.gram_sums.matmul(b.gram_sums.t());                    // [H, H']
    place(sums.hsic) += (traces + totals / ((size - 1) * (size - 2)) - 2 / (size - 2) * crossed).cpu();
  }

  const std::vector<int64_t>& first_;
  const OutputWeights& output_;
  std::vector<Seen> seen_;

 public:
  PairSums sums;
};

/// Both halves of a symmetric matrix from its upper one; the diagonal stays.
torch::Tensor mirrored(const torch::Tensor& upper) { return upper.triu() + upper.triu(1).t(); }

class Redundancy final : public Analysis {
 public:
  struct Options {
    int64_t texts = 32;
    int64_t max_tokens = 64;
    int64_t pairs = 50;

    template <class V>
    void fields(V& v) {
      v("texts", texts, "how many texts, the first of the split", at_least(1));
      v("max_tokens", max_tokens, "tokens of a text that are looked at, from its beginning", at_least(4));
      v("pairs", pairs, "how many pairs the table shows, the closest first", at_least(1));
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
        : options_(options), blocks_(input.model.blocks()), sums_(std::ssize(all_heads(blocks_))) {
      int64_t heads = 0;
      for (size_t b = 0; b < blocks_.size(); ++b) {
        first_.push_back(heads);
        heads += blocks_[b].count();
        Attention& attention = input.model.attention(b);
        const torch::Tensor weight = attention.output().weight.detach();
        output_.push_back(
            weight.view({weight.size(0), blocks_[b].count(), attention.value_width()}).transpose(0, 1));  // [H, C, Dv]
      }
      Split cut;
      for (const Example& example : input.split.examples) {
        if (std::ssize(cut.examples) == options.texts) break;
        cut.examples.push_back(shortened(example, options.max_tokens));
      }
      batches_ = make_batches(cut, {.tokens = 256}, input.model.parameters().front().device(), ChoiceUse::right);
    }
    const std::vector<Batch>* own_batches() const override { return &batches_; }
    std::unique_ptr<Part> look(const Batch&) const override {
      return std::make_unique<RedundancyPart>(first_, output_, sums_.js.size(0));
    }
    void add(const Part& part) override { sums_ += dynamic_cast<const RedundancyPart&>(part).sums; }
    AnalysisResult finish() override;

   private:
    /// What a model reads of it; what is to be predicted does not matter here.
    static Example shortened(const Example& example, int64_t most) {
      Example one;
      const auto cut = [most](std::vector<int64_t> ids) {
        if (std::ssize(ids) > most) ids.resize(static_cast<size_t>(most));
        return ids;
      };
      one.tokens = cut(example.tokens);
      one.token_types = cut(example.token_types);
      one.decoder_tokens = cut(example.decoder_tokens);
      one.targets =
          std::vector<int64_t>(one.decoder_tokens.empty() ? one.tokens.size() : one.decoder_tokens.size(), kNoTarget);
      for (const int64_t at : example.special)
        if (at < most) one.special.push_back(at);
      return one;
    }
    /// The smallest (or largest) value of a row beside its own, by block.
    HeadColumn nearest(const std::string& name, const torch::Tensor& matrix, bool smallest) const;

    const Options& options_;
    Blocks blocks_;
    std::vector<int64_t> first_;
    RedundancyPart::OutputWeights output_;
    std::vector<Batch> batches_;
    PairSums sums_;
  };

  Options options_;
};

HeadColumn Redundancy::Collect::nearest(const std::string& name, const torch::Tensor& matrix, bool smallest) const {
  HeadColumn column{.name = name, .values = {}, .stderr_ = {}, .baseline = {}, .n = {}, .examples = {}};
  torch::Tensor others = matrix.clone();
  others.diagonal().fill_(NAN);
  const double worst = smallest ? INFINITY : -INFINITY;
  others = torch::where(others.isnan(), torch::full_like(others, worst), others);
  const torch::Tensor found = smallest ? others.amin(1) : others.amax(1);  // [N]
  for (size_t b = 0; b < blocks_.size(); ++b) {
    const torch::Tensor of_block = found.narrow(0, first_[b], blocks_[b].count()).clone();  // [H]
    const bool known = blocks_[b].count() > 0 && of_block.isfinite().all().item<bool>();
    column.values.push_back(known ? of_block : torch::Tensor());
    column.stderr_.emplace_back();
    column.baseline.emplace_back();
    column.n.push_back(0);
    column.examples.push_back(0);
  }
  return column;
}

AnalysisResult Redundancy::Collect::finish() {
  AnalysisResult result;
  const torch::Tensor js = mirrored(sums_.js / sums_.rows), cosine = mirrored(sums_.cosine / sums_.outputs);
  const torch::Tensor own = sums_.hsic.diagonal().clamp_min(0).sqrt();  // [N]
  torch::Tensor cka = mirrored(sums_.hsic / (own.unsqueeze(1) * own));
  cka = torch::where(sums_.outputs.triu() + sums_.outputs.triu(1).t() > 0, cka, torch::full_like(cka, NAN));
  result.columns = {nearest("js_nearest", js, true), nearest("cka_nearest", cka, false),
                    nearest("cosine_nearest", cosine, false)};

  const std::vector<HeadId> heads = all_heads(blocks_);
  std::vector<std::pair<double, std::pair<int64_t, int64_t>>> pairs;
  int64_t incomparable = 0;
  for (int64_t a = 0; a < std::ssize(heads); ++a)
    for (int64_t b = a + 1; b < std::ssize(heads); ++b) {
      const double distance = js[a][b].item<double>();
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
    table.rows.push_back({to_string(heads[static_cast<size_t>(a)]), to_string(heads[static_cast<size_t>(b)]), distance,
                          cell(cka, a, b), cell(cosine, a, b)});
  }
  result.tables.push_back(std::move(table));
  result.notes.push_back(
      fmt::format("the first {} tokens of each text; js is between 0 (the same attention) and {:.3f}",
                  options_.max_tokens, std::log(2.0)));
  if (incomparable > 0)
    result.notes.push_back(
        fmt::format("{} pairs of heads see different keys and have no distance of attention", incomparable));
  return result;
}

const Register<Analysis, Redundancy> register_redundancy{"redundancy",
                                                         "pairs of heads that attend alike, or write alike"};

}  // namespace
}  // namespace headprune
