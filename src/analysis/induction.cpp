// Heads of language models that continue what stood there before (Olsson et al. 2022), on random tokens written twice:
// in the second copy, a head that matches prefixes looks at the token that followed the same token in the first. What
// such a head then does with what it sees is read off its weights: `copying` is sum(Re eigenvalue) / sum(|eigenvalue|)
// of its value-output circuit seen through the embedding and the unembedding, without norms (Elhage et al. 2021,
// "Copying / primitive in-context learning"): 1 for a head that raises every token it looks at.
#include <algorithm>

#include "analysis/shares.h"
#include "core/error.h"
#include "core/random.h"
#include "model/attention.h"

namespace headprune {
namespace {

class Induction final : public Analysis {
 public:
  struct Options {
    int64_t texts = 16;
    int64_t tokens = 25;
    double threshold = 0.4;

    template <class V>
    void fields(V& v) {
      v("texts", texts, "how many random texts", at_least(1));
      v("tokens", tokens, "random tokens of a text, which stand in it twice", at_least(3));
      v("threshold", threshold, "a head has a role from this mean weight on", between(0, 1));
    }
  };
  explicit Induction(Options options) : options_(options) {}
  std::vector<std::string> roles() const override { return {"induction", "previous_token", "duplicate_token"}; }

  void check(const TransformerModel& model, const Dataset& dataset) const override {
    if (model.sizes().architecture != Architecture::decoder)
      fail(ExitCode::usage,
           "analyses.methods: induction looks at models that predict the next token, and this one does not; leave it "
           "out");
    const int64_t length = std::ssize(dataset.tokenizer->form(1).before) + 2 * options_.tokens;
    if (length > model.longest_text())
      fail(ExitCode::usage,
           "analyses.methods: induction writes {} random tokens twice, and the model has {} positions; lower its "
           "option tokens to {}",
           options_.tokens, model.longest_text(),
           (model.longest_text() - std::ssize(dataset.tokenizer->form(1).before)) / 2);
  }

  std::unique_ptr<Pass> start(const AnalysisInput& input) const override {
    const auto before = std::ssize(input.dataset.tokenizer->form(1).before);
    const std::vector<RoleRule> rules = {
        {.column = "prefix_matching", .role = "induction", .detail = "", .threshold = options_.threshold},
        {.column = "previous_token", .role = "previous_token", .detail = "", .threshold = options_.threshold},
        {.column = "duplicate_token", .role = "duplicate_token", .detail = "", .threshold = options_.threshold}};
    return std::make_unique<Shares>(
        std::vector<std::string>{"prefix_matching", "previous_token", "duplicate_token"}, input,
        [this, before](const BlockView& view) { return look(view, before); },
        [this, rules, &model = input.model](AnalysisResult& result) {
          find_role(rules, result);
          result.columns.push_back(copying(model));
          result.notes.push_back(
              fmt::format("{} texts of {} random tokens written twice; weights are those of the "
                          "second copy",
                          options_.texts, options_.tokens));
        },
        random_texts(input));
  }

 private:
  std::vector<Batch> random_texts(const AnalysisInput& input) const {
    const Tokenizer& tokenizer = *input.dataset.tokenizer;
    const SequenceForm form = tokenizer.form(1);
    std::vector<int64_t> usable;
    for (int64_t id = 0; id < tokenizer.size(); ++id)
      if (id != tokenizer.unknown() && std::find(form.before.begin(), form.before.end(), id) == form.before.end())
        usable.push_back(id);
    const int64_t before = std::ssize(form.before);
    Split split;
    Random random(input.seed, "analysis/induction");
    for (int64_t i = 0; i < options_.texts; ++i) {
      Example example;
      example.tokens = form.before;
      for (int64_t at = 0; at < before; ++at) example.special.push_back(at);
      for (int64_t at = 0; at < 2 * options_.tokens; ++at)
        example.tokens.push_back(at < options_.tokens
                                     ? usable[random.below(usable.size())]
                                     : example.tokens[static_cast<size_t>(before + at - options_.tokens)]);
      split.examples.push_back(std::move(example));
    }
    const torch::Device device = input.model.parameters().front().device();
    return make_batches(split, {.tokens = 2048}, device);
  }

  std::vector<Share> look(const BlockView& view, int64_t before) const {
    const torch::Tensor position = torch::arange(view.weights.size(2), view.batch.tokens.options());  // [T]
    const torch::Tensor second = position.ge(before + options_.tokens).view({1, 1, -1});              // [1, 1, T]
    const torch::Tensor queries = view.choosing().logical_and(second);                                // [B, 1, T]
    const auto at = [&](int64_t offset) {
      return position.eq(position.unsqueeze(1) + offset).logical_and(view.visible);  // [B, 1, T, S]
    };
    return {weight_share(view, at(1 - options_.tokens), queries), weight_share(view, at(-1), queries),
            weight_share(view, at(-options_.tokens), queries)};
  }

  static HeadColumn copying(Model& model) {
    const torch::NoGradGuard no_gradients;
    const auto parameters = model.named_parameters();
    const auto vectors = [&](const char* name) { return parameters[name].detach().cpu().to(torch::kFloat64); };
    const torch::Tensor embedding = vectors("embeddings.tokens");  // [vocabulary, C]
    const torch::Tensor unembedding = parameters.contains("head.weight") ? vectors("head.weight") : embedding;
    const torch::Tensor both = unembedding.t().matmul(embedding);  // [C, C]
    HeadColumn column{.name = "copying"};
    const Blocks blocks = model.blocks();
    for (size_t b = 0; b < blocks.size(); ++b) {
      Attention& attention = model.attention(b);
      const int64_t width = attention.value_width();
      const torch::Tensor value = attention.value().weight.detach().cpu().to(torch::kFloat64);    // [G Dv, C]
      const torch::Tensor output = attention.output().weight.detach().cpu().to(torch::kFloat64);  // [C, H Dv]
      torch::Tensor of_heads = torch::zeros({blocks[b].count()}, torch::kFloat64);                // [H]
      for (int64_t h = 0; h < blocks[b].count(); ++h) {
        const std::vector<int64_t>& groups = attention.groups();
        const int64_t group = blocks[b].group_of(blocks[b].heads[static_cast<size_t>(h)]);
        const int64_t g = std::lower_bound(groups.begin(), groups.end(), group) - groups.begin();
        // The eigenvalues of unembedding x output x value x embedding that are not 0 are those of this small product.
        const torch::Tensor circuit = output.narrow(1, h * width, width)
                                          .t()
                                          .matmul(both)
                                          .matmul(value.narrow(0, g * width, width).t());  // [Dv, Dv]
        const torch::Tensor eigenvalues = torch::linalg_eigvals(circuit);                  // [Dv] complex
        const double size = eigenvalues.abs().sum().item<double>();
        of_heads[h] = size > 0 ? torch::real(eigenvalues).sum().item<double>() / size : 0.0;
      }
      column.values.push_back(blocks[b].heads.empty() ? torch::Tensor() : of_heads);
      column.stderr_.emplace_back();
      column.baseline.emplace_back();
      column.n.push_back(0);
      column.examples.push_back(0);
    }
    return column;
  }

  Options options_;
};

const Register<Analysis, Induction> register_induction{
    "induction", "heads that continue a repetition, on random tokens written twice; decoders only"};

}  // namespace
}  // namespace headprune
