// Heads that find the governor of a word, or its dependent (Clark et al. 2019, section 4.2; Voita et al. 2019, section
// 5.2): accuracy of the word that has a head's largest weight, for each relation and direction, against the best fixed
// offset. Heads are found on the sentences of even index and measured on those of odd index: of hundreds of pairs of
// heads and relations some look well by chance. Two controls: the same head with the rows of each sentence permuted,
// and the best head, found the same way, of a model of the same shape with random weights.
#include <algorithm>
#include <numeric>

#include "analysis/shares.h"
#include "analysis/treebank.h"
#include "core/random.h"
#include "score/accumulate.h"

namespace headprune {
namespace {

/// Of one half of the sentences: hits of heads by kind, as RatioSums over [K H], and of fixed offsets, [K offsets].
struct HalfSums {
  HalfSums(int64_t kinds, int64_t heads, int64_t offsets)
      : hits(kinds * heads), permuted(kinds * heads), by_offset(kinds * offsets) {}
  RatioSums hits, permuted, by_offset;
  torch::Tensor sentences = {};  // [K] float64: that have an instance
};

class Syntactic final : public Analysis {
 public:
  struct Options {
    std::filesystem::path conllu;
    double margin = 0.1;
    int64_t min_instances = 100;
    std::vector<int64_t> offsets = {-3, -2, -1, 1, 2, 3};
    bool control = true;

    template <class V>
    void fields(V& v) {
      v("conllu", conllu, "treebank in CoNLL-U", required, existing_file);
      v("margin", margin, "how much more accurate than the best fixed offset a head with the role is", between(0, 1));
      v("min_instances", min_instances, "relations with fewer are left out", at_least(2));
      v("offsets", offsets, "fixed distances in words that heads are compared with", not_empty);
      v("control", control, "look at a model of the same shape with random weights too");
    }
  };
  explicit Syntactic(Options options) : options_(std::move(options)) {}
  std::vector<std::string> roles() const override { return {"syntactic"}; }
  void check(const TransformerModel& model, const Dataset& dataset) const override {
    read_treebank(options_.conllu, *dataset.tokenizer, model, torch::kCPU);
  }
  std::vector<InputFile> inputs() const override { return {{"analysis.conllu", options_.conllu}}; }
  std::unique_ptr<Pass> start(const AnalysisInput& input) const override;

 private:
  class Collect;
  Options options_;
};

/// What one batch adds: by block, then half.
struct SyntacticPart final : Analysis::Part {
  using Look = std::function<void(const BlockView&, SyntacticPart&)>;
  struct Seen {
    size_t block = 0;
    torch::Tensor hits, permuted, by_offset, counts;  // [B, K, H], [B, K, H], [B, K, offsets], [B, K]
    std::vector<int64_t> half;                        // [B]
  };
  explicit SyntacticPart(Look what) : look(std::move(what)) {}
  void see(const BlockView& view) override { look(view, *this); }

  Look look;
  std::vector<Seen> seen;
};

class Syntactic::Collect final : public Analysis::Pass {
 public:
  Collect(const Options& options, const AnalysisInput& input)
      : options_(options),
        input_(input),
        treebank_(read_treebank(options.conllu, *input.dataset.tokenizer, input.model,
                                input.model.parameters().front().device())),
        kinds_(treebank_, options.min_instances),
        blocks_(input.model.blocks()) {
    for (const BlockHeads& block : blocks_)
      sums_.emplace_back(2, HalfSums(kinds_.count(), block.count(), std::ssize(options_.offsets)));
  }

  std::unique_ptr<Analysis::Part> look(const Batch&) const override {
    return std::make_unique<SyntacticPart>(
        [this](const BlockView& view, SyntacticPart& part) { part.seen.push_back(see(view)); });
  }

  void add(const Analysis::Part& part) override {
    for (const SyntacticPart::Seen& seen : dynamic_cast<const SyntacticPart&>(part).seen)
      for (int64_t half = 0; half < 2; ++half) {
        std::vector<int64_t> rows;
        for (size_t i = 0; i < seen.half.size(); ++i)
          if (seen.half[i] == half) rows.push_back(static_cast<int64_t>(i));
        if (rows.empty()) continue;
        const torch::Tensor mine = torch::tensor(rows, torch::kInt64);
        HalfSums& sums = sums_[seen.block][static_cast<size_t>(half)];
        const torch::Tensor counts = seen.counts.index_select(0, mine);  // [B', K]
        const auto add = [&](RatioSums& to, const torch::Tensor& values) {
          const torch::Tensor of_half = values.index_select(0, mine);  // [B', K, H]
          to.add(of_half.flatten(1), counts.unsqueeze(2).expand_as(of_half).flatten(1));
        };
        add(sums.hits, seen.hits);
        add(sums.permuted, seen.permuted);
        add(sums.by_offset, seen.by_offset);
        const torch::Tensor with_instance = (counts > 0).sum(0).to(torch::kFloat64);  // [K]
        sums.sentences = sums.sentences.defined() ? sums.sentences + with_instance : with_instance;
      }
  }

  AnalysisResult finish() override;
  const std::vector<Batch>* own_batches() const override { return &treebank_.batches; }

 private:
  struct Best {
    size_t block = 0;
    int64_t head = -1;  // none without heads
    double found = -1;  // its accuracy on the half on which it was found
  };

  SyntacticPart::Seen see(const BlockView& view) const;
  std::vector<const TreebankSentence*> sentences_of(const Batch& batch) const {
    std::vector<const TreebankSentence*> sentences;
    for (const int64_t example : batch.examples)
      sentences.push_back(&treebank_.sentences[static_cast<size_t>(example)]);
    return sentences;
  }
  /// Of one half: [K, H] of a block, [K], and the offset that is best for a kind.
  torch::Tensor accuracy(size_t block, size_t half) const {
    return sums_[block][half].hits.ratio().view({kinds_.count(), -1});  // [K, H]
  }
  torch::Tensor offsets_accuracy(size_t half) const {
    return sums_.front()[half].by_offset.ratio().view({kinds_.count(), -1});  // [K, offsets]
  }
  int64_t instances(int64_t kind, size_t half) const {
    const HalfSums& sums = sums_.front()[half];
    return sums.by_offset.n.defined()
               ? static_cast<int64_t>(sums.by_offset.n.view({kinds_.count(), -1})[kind][0].item<double>())
               : 0;
  }
  Best best(int64_t kind, size_t half) const;
  double to_beat(size_t block, int64_t kind, int64_t head, size_t half) const;
  ShareFact measured(const RatioSums& sums, int64_t kind, int64_t place, size_t half) const;
  AnalysisTable table(const std::optional<AnalysisResult>& random) const;

  const Options& options_;
  AnalysisInput input_;
  Treebank treebank_;
  Relations kinds_;
  Blocks blocks_;
  std::vector<std::vector<HalfSums>> sums_;  // by block, then half
};

std::unique_ptr<Analysis::Pass> Syntactic::start(const AnalysisInput& input) const {
  return std::make_unique<Collect>(options_, input);
}

/// The word with the largest weight of each row, [B, H, W]; -1 where two share it or the row is empty.
torch::Tensor pointed_at(torch::Tensor words) {
  words = words.clone();
  words.diagonal(0, 2, 3).fill_(0);
  return largest_keys(words).masked_fill(words.amax(-1) <= 0, -1);  // [B, H, W]
}

SyntacticPart::Seen Syntactic::Collect::see(const BlockView& view) const {
  SyntacticPart::Seen seen{.block = view.index, .hits = {}, .permuted = {}, .by_offset = {}, .counts = {}, .half = {}};
  if (!view.self_attention() || kinds_.count() == 0) return seen;
  const std::vector<const TreebankSentence*> sentences = sentences_of(view.batch);
  const torch::Tensor words = word_attention(view.weights, sentences).cpu();  // [B, H, W, W]
  const int64_t size = words.size(0), heads = words.size(1), most = words.size(2);
  torch::Tensor rows = torch::arange(most, torch::kInt64).repeat({size, 1});  // [B, W]: which row stands in whose place
  for (int64_t s = 0; s < size; ++s) {
    const int64_t example = view.batch.examples[static_cast<size_t>(s)];
    std::vector<int64_t> order(sentences[static_cast<size_t>(s)]->words.size());
    std::iota(order.begin(), order.end(), 0);
    Random(input_.seed, fmt::format("analysis/syntactic/{}", example)).shuffle(order);
    rows[s].narrow(0, 0, std::ssize(order)).copy_(torch::tensor(order, torch::kInt64));
    seen.half.push_back(example % 2);
  }
  const torch::Tensor shuffled =
      words.gather(2, rows.view({size, 1, most, 1}).expand({size, heads, most, most}));  // [B, H, W, W]
  const torch::Tensor found = pointed_at(words), by_chance = pointed_at(shuffled);       // [B, H, W]

  const int64_t kinds = kinds_.count(), offsets = std::ssize(options_.offsets);
  seen.hits = torch::zeros({size, kinds, heads}, torch::kFloat64);
  seen.permuted = torch::zeros_like(seen.hits);
  seen.by_offset = torch::zeros({size, kinds, offsets}, torch::kFloat64);
  seen.counts = torch::zeros({size, kinds}, torch::kFloat64);
  auto hits = seen.hits.accessor<double, 3>();
  auto permuted = seen.permuted.accessor<double, 3>();
  auto by_offset = seen.by_offset.accessor<double, 3>();
  auto counts = seen.counts.accessor<double, 2>();
  const auto at = found.accessor<int64_t, 3>(), chance = by_chance.accessor<int64_t, 3>();
  for (const Instance& one : kinds_.instances(sentences)) {
    // A model that reads from left to right cannot look at what follows.
    if (view.block.id.kind == Kind::decoder && one.wanted > one.asks) continue;
    counts[one.sentence][one.kind] += 1;
    for (int64_t h = 0; h < heads; ++h) {
      hits[one.sentence][one.kind][h] += at[one.sentence][h][one.asks] == one.wanted ? 1 : 0;
      permuted[one.sentence][one.kind][h] += chance[one.sentence][h][one.asks] == one.wanted ? 1 : 0;
    }
    for (int64_t o = 0; o < offsets; ++o)
      by_offset[one.sentence][one.kind][o] += one.wanted - one.asks == options_.offsets[static_cast<size_t>(o)] ? 1 : 0;
  }
  return seen;
}

Syntactic::Collect::Best Syntactic::Collect::best(int64_t kind, size_t half) const {
  Best best;
  for (size_t b = 0; b < blocks_.size(); ++b) {
    if (blocks_[b].heads.empty()) continue;
    const torch::Tensor of_heads = accuracy(b, half)[kind];  // [H]
    const int64_t head = of_heads.argmax().item<int64_t>();
    const double value = of_heads[head].item<double>();
    if (value > best.found) best = {.block = b, .head = head, .found = value};
  }
  return best;
}

/// What a head has to beat: the best offset, and itself with the rows permuted, by which it finds what it looks at from
/// anywhere.
double Syntactic::Collect::to_beat(size_t block, int64_t kind, int64_t head, size_t half) const {
  const double permuted = sums_[block][half].permuted.ratio().view({kinds_.count(), -1})[kind][head].item<double>();
  return std::max(permuted, offsets_accuracy(half)[kind].max().item<double>());
}

ShareFact Syntactic::Collect::measured(const RatioSums& sums, int64_t kind, int64_t place, size_t half) const {
  const auto at = [&](const torch::Tensor& all) { return all.view({kinds_.count(), -1})[kind][place].item<double>(); };
  return {.value = at(sums.ratio()),
          .stderr_ = at(sums.standard_error()),
          .baseline = offsets_accuracy(half)[kind].max().item<double>(),
          .n = instances(kind, half),
          .examples = static_cast<int64_t>(sums_.front()[half].sentences[kind].item<double>())};
}

AnalysisTable Syntactic::Collect::table(const std::optional<AnalysisResult>& random) const {
  AnalysisTable table{.name = "relations",
                      .header = {"relation", "direction", "best_head", "accuracy", "ci_low", "ci_high", "best_offset",
                                 "offset_accuracy", "permuted_rows", "random_weights", "n"},
                      .rows = {}};
  for (int64_t kind = 0; kind < kinds_.count(); ++kind) {
    const Best found = best(kind, 0);
    if (found.head < 0 || instances(kind, 0) == 0 || instances(kind, 1) == 0) continue;
    const HalfSums& sums = sums_[found.block][1];
    const ShareFact accuracy = measured(sums.hits, kind, found.head, 1);
    const Estimate estimate = accuracy.estimate();
    const int64_t offset = offsets_accuracy(0)[kind].argmax().item<int64_t>();
    const HeadId head{blocks_[found.block].id, blocks_[found.block].heads[static_cast<size_t>(found.head)]};
    std::vector<Json> row = {kinds_.relation(kind),
                             Relations::direction(kind),
                             to_string(head),
                             accuracy.value,
                             estimate.ci95 ? Json((*estimate.ci95)[0]) : Json(),
                             estimate.ci95 ? Json((*estimate.ci95)[1]) : Json(),
                             fmt::format("{:+}", options_.offsets[static_cast<size_t>(offset)]),
                             offsets_accuracy(1)[kind][offset].item<double>(),
                             measured(sums.permuted, kind, found.head, 1).value,
                             Json(),
                             accuracy.n};
    if (random)
      for (const std::vector<Json>& other : random->tables.front().rows)
        if (other[0] == row[0] && other[1] == row[1]) row[9] = other[3];
    table.rows.push_back(std::move(row));
  }
  return table;
}

AnalysisResult Syntactic::Collect::finish() {
  AnalysisResult result;
  result.notes = treebank_.notes;
  if (kinds_.count() == 0) {
    result.notes.push_back(fmt::format("no relation has {} instances", options_.min_instances));
    return result;
  }
  for (int64_t kind = 0; kind < kinds_.count(); ++kind) {
    HeadColumn column{.name = kinds_.relation(kind) + (kind % 2 == 0 ? "_to_head" : "_to_dependent")};
    const int64_t even = instances(kind, 0), odd = instances(kind, 1);
    for (size_t b = 0; b < blocks_.size(); ++b) {
      const bool known = !blocks_[b].heads.empty() && even > 0 && odd > 0 && blocks_[b].id.kind != Kind::cross;
      // Both halves together; roles go by the odd one alone.
      const auto n = static_cast<double>(even + odd);
      column.values.push_back(
          known
              ? (accuracy(b, 0)[kind] * static_cast<double>(even) + accuracy(b, 1)[kind] * static_cast<double>(odd)) / n
              : torch::Tensor());  // [H]
      column.stderr_.emplace_back();
      column.baseline.push_back(
          std::max(offsets_accuracy(0)[kind].max().item<double>(), offsets_accuracy(1)[kind].max().item<double>()));
      column.n.push_back(known ? even + odd : 0);
      column.examples.push_back(known ? static_cast<int64_t>(sums_.front()[0].sentences[kind].item<double>() +
                                                             sums_.front()[1].sentences[kind].item<double>())
                                      : 0);
      for (int64_t h = 0; known && h < blocks_[b].count(); ++h) {
        const ShareFact first = measured(sums_[b][0].hits, kind, h, 0);
        ShareFact second = measured(sums_[b][1].hits, kind, h, 1);
        second.baseline = to_beat(b, kind, h, 1);
        if (first.value < to_beat(b, kind, h, 0) + options_.margin || second.value < *second.baseline + options_.margin)
          continue;
        result.roles.push_back({.block = b,
                                .position = h,
                                .role = "syntactic",
                                .detail = kinds_.relation(kind) + " " + Relations::direction(kind),
                                .column = column.name,
                                .evidence = second});
      }
    }
    result.columns.push_back(std::move(column));
  }
  // How much of the role a head has: by how much its best relation is above the best offset.
  std::vector<const HeadColumn*> relations;
  for (const HeadColumn& column : result.columns) relations.push_back(&column);
  result.columns.push_back(largest_of("syntactic", relations, Largest::above_baseline));
  result.strengths.push_back({"syntactic", "syntactic"});
  std::optional<AnalysisResult> random;
  if (options_.control) {
    const std::shared_ptr<TransformerModel> twin = input_.model.clone();
    const torch::NoGradGuard no_gradients;
    initialise(*twin, stream_seed(input_.seed, "analysis/syntactic/random"));
    Options without = options_;
    without.control = false;
    const AnalysisInput other{.model = *twin,
                              .dataset = input_.dataset,
                              .split = input_.split,
                              .batches = input_.batches,
                              .seed = input_.seed,
                              .on_batch = {}};
    random = analyse({std::make_shared<const Syntactic>(without)}, other).front();
  }
  result.tables.push_back(table(random));
  result.notes.emplace_back(
      "best heads were found on sentences of even index; their accuracies, and those behind roles, are of the odd "
      "ones");
  return result;
}

const Register<Analysis, Syntactic> register_syntactic{
    "syntactic", "heads that find the governor or the dependent of a word, on a treebank"};

}  // namespace
}  // namespace headprune
