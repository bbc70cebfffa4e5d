// Mean over examples of the mean over query positions of the L2 norm of what a head gives.
#include "model/attention.h"
#include "score/accumulate.h"

namespace headprune {
namespace {

enum class At { projected, context };

}  // namespace

template <>
struct EnumNames<At> {
  static constexpr std::pair<const char*, At> names[] = {{"projected", At::projected}, {"context", At::context}};
};

namespace {

/// W_O[h]^T W_O[h] for each head, so that ||W_O[h] c||^2 = c^T G c needs no tensor of d_model values a head and
/// position. [H, Dv, Dv] float64.
torch::Tensor gram_matrices(Attention& attention) {
  const torch::Tensor weight = attention.output().weight.detach().to(torch::kFloat64);  // [C, H Dv]
  const torch::Tensor slices = weight.view({attention.d_model(), attention.head_count(), attention.value_width()})
                                   .permute({1, 0, 2});  // [H, C, Dv]
  return slices.transpose(1, 2).matmul(slices);          // [H, Dv, Dv]
}

class OutputL2 final : public ScoreMethod {
 public:
  struct Options {
    At at = At::projected;
    bool relative = false;
    QueryPositions positions = QueryPositions::all;
    Normalize normalize = Normalize::none;
    std::optional<HeadUnit> unit;

    template <class V>
    void fields(V& v) {
      v("at", at,
        "projected: the head's part of the block's output, which the residual stream receives. context: before "
        "the output projection");
      v("relative", relative,
        "divide, position by position, by the norm of the whole block's output (with its bias; at context: of all "
        "surviving heads' contexts side by side)");
      v("positions", positions, kPositionsHelp);
      v("normalize", normalize, "how the scores of different blocks are made comparable");
      v("unit", unit, kScoreUnitHelp);
    }
  };
  explicit OutputL2(Options options) : options_(options) {}
  Normalize normalize() const override { return options_.normalize; }
  HeadUnit unit() const override { return options_.unit.value_or(HeadUnit::query); }
  std::string note() const override { return note_of(options_.positions, unit()); }
  Needs needs() const override {
    Needs needs;
    needs.contexts = true;
    return needs;
  }
  std::unique_ptr<Pass> start(const ScoreInput& input, int64_t) const override {
    return std::make_unique<Collect>(options_, input);
  }

 private:
  class Collect final : public Pass {
   public:
    Collect(const Options& options, const ScoreInput& input)
        : options_(options),
          model_(input.model),
          survives_(surviving_heads(model_.blocks(), input.removed)),
          mean_("output_l2", input) {
      for (size_t b = 0; b < survives_.size(); ++b)
        grams_.push_back(by_grams() ? gram_matrices(model_.attention(b)) : torch::Tensor());
    }

    void add(const Observation& seen) override {
      for (size_t b = 0; b < survives_.size(); ++b) {
        if (survives_[b].numel() == 0) continue;
        const torch::Tensor rows = query_rows(model_, b, seen.batch, options_.positions);  // [B, 1, T]
        const torch::Tensor positions = rows.sum(-1);                                      // [B, 1]
        const torch::Tensor context = seen.trace.contexts[b].to(torch::kFloat64);          // [B, H, T, Dv]
        const bool projected = options_.at == At::projected;
        torch::Tensor norm = unit_norms(context, b);  // [B, U, T]
        if (options_.relative) {
          const torch::Tensor whole = projected ? block_norm(context, b) : context_norm(context, b);  // [B, 1, T]
          norm = torch::where(norm == 0, norm, norm / whole);  // a head that gives nothing has no share of nothing
        }
        norm = torch::where(rows, norm, torch::zeros({}, norm.options()));
        mean_.add(b, norm.sum(-1) / positions.clamp_min(1), seen.batch, positions.squeeze(1) > 0);
      }
    }
    RawScores finish() override { return mean_.finish(); }

   private:
    /// Norms of groups' outputs need products between their heads, for which there are no grams.
    bool by_grams() const { return options_.at == At::projected && mean_.units().unit() == HeadUnit::query; }

    /// Norm of what each unit gives at each position. [B, U, T]
    torch::Tensor unit_norms(const torch::Tensor& context, size_t block) const {
      if (options_.at == At::context) return mean_.units().sum(context.square().sum(-1), block).sqrt();
      if (!by_grams()) return group_norms(context, block);
      const torch::Tensor gram = grams_[block].to(context.device());
      // Rounding can leave a norm of 0 just below it.
      return (context.matmul(gram) * context).sum(-1).clamp_min(0).sqrt();  // [B, H, T]
    }
    /// Norm of each group's part of the block's output, removed heads left out. [B, G, T]
    torch::Tensor group_norms(const torch::Tensor& context, size_t block) const {
      Attention& attention = model_.attention(block);
      const torch::Tensor weight =
          attention.output()
              .weight.detach()
              .to(torch::kFloat64)
              .view({attention.d_model(), attention.head_count(), attention.value_width()});  // [C, H, Dv]
      const torch::Tensor kept = surviving(context, block);                                   // [B, H, T, Dv]
      std::vector<torch::Tensor> norms;
      for (size_t group = 0; group < mean_.units().blocks()[block].heads.size(); ++group) {
        const torch::Tensor places =
            torch::tensor(mean_.units().places(block, group), torch::kInt64).to(context.device());     // [R]
        const torch::Tensor joined = kept.index_select(1, places).transpose(1, 2).flatten(2);          // [B, T, R Dv]
        const torch::Tensor of_group = at::linear(joined, weight.index_select(1, places).flatten(1));  // [B, T, C]
        norms.push_back(of_group.norm(2, -1));                                                         // [B, T]
      }
      return torch::stack(norms, 1);  // [B, G, T]
    }
    torch::Tensor surviving(const torch::Tensor& context, size_t block) const {
      return context * survives_[block].to(context.device()).view({1, -1, 1, 1});  // [B, H, T, Dv]
    }
    /// Norm of the block's output at each position, removed heads left out. [B, 1, T]
    torch::Tensor block_norm(const torch::Tensor& context, size_t block) const {
      const Projection& output = model_.attention(block).output();
      const torch::Tensor joined = surviving(context, block).transpose(1, 2).flatten(2);     // [B, T, H Dv]
      torch::Tensor whole = at::linear(joined, output.weight.detach().to(torch::kFloat64));  // [B, T, C]
      if (output.bias.defined()) whole = whole + output.bias.detach().to(torch::kFloat64);
      return whole.norm(2, -1).unsqueeze(1);  // [B, 1, T]
    }
    torch::Tensor context_norm(const torch::Tensor& context, size_t block) const {
      return surviving(context, block).square().sum(-1).sum(1, /*keepdim=*/true).sqrt();  // [B, 1, T]
    }

    Options options_;
    Model& model_;
    PerBlock survives_, grams_;
    ExampleMean mean_;
  };

  Options options_;
};

const Register<ScoreMethod, OutputL2> register_output_l2{"output_l2", "L2 norm of the head's output; no gradients"};

}  // namespace
}  // namespace headprune
