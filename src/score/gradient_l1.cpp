// Importance by the gradient of the loss (Michel, Levy and Neubig 2019, section 4). With g(x) = dl(x)/dgate
// = sum over q of <c[q], dl(x)/dc[q]>, abs(g(x)) is to first order how much the loss of x changes when the head goes.
//
//   of: gate      absolute: example  mean over x of abs(g(x))                                  (their Eq. 2)
//                           token    sum over x and q of abs(<c[q], dl/dc[q]>), over the number of query positions that
//                                    carry gradient, counted for each block (their BERT code)
//                           batch    1/N sum over batches of abs(sum over x of the batch of g(x)): depends on batch
//                                    size and on the order of examples, by definition       (TextPruner, DSP)
//                           signed   -mean over x of g(x): estimated rise of the loss when the head goes
//   of: context   mean over x of the sum over q and d of abs(dl(x)/dc[q, d])
//   of: weights   sum of abs over the head's slices of the q, k, v and output weights (no biases) of the gradient of
//                 the mean loss over the whole score split. The gradient is summed over all batches before abs, so
//                 batch size does not matter. Keys and values that several heads read are no head's own and count for
//                 the group alone.
//
// unit: group: one gate multiplies the contexts of all heads of a group, so its gradient g(x) is the sum of theirs,
// before any abs. of: context and of: weights sum over all that the group has.
#include "core/error.h"
#include "score/accumulate.h"

namespace headprune {
namespace {

enum class Of { gate, context, weights };
enum class Absolute { example, token, batch, signed_ };
enum class Preset { none, paper, michel_code, textpruner };

}  // namespace

template <>
struct EnumNames<Of> {
  static constexpr std::pair<const char*, Of> names[] = {
      {"gate", Of::gate}, {"context", Of::context}, {"weights", Of::weights}};
};
template <>
struct EnumNames<Absolute> {
  static constexpr std::pair<const char*, Absolute> names[] = {{"example", Absolute::example},
                                                               {"token", Absolute::token},
                                                               {"batch", Absolute::batch},
                                                               {"signed", Absolute::signed_}};
};
template <>
struct EnumNames<Preset> {
  static constexpr std::pair<const char*, Preset> names[] = {{"none", Preset::none},
                                                             {"paper", Preset::paper},
                                                             {"michel_code", Preset::michel_code},
                                                             {"textpruner", Preset::textpruner}};
};

namespace {

/// One definition, chosen whole: what a preset stands for, and what options come to.
struct Variant {
  Of of = Of::gate;
  Absolute absolute = Absolute::example;
  Normalize normalize = Normalize::layer_l2;
};

Variant variant_of(Preset preset) {
  switch (preset) {
    case Preset::none:
    case Preset::paper:
      break;
    case Preset::michel_code:
      return {Of::gate, Absolute::token, Normalize::layer_l2};
    case Preset::textpruner:
      return {Of::gate, Absolute::batch, Normalize::none};
  }
  return {};
}

struct GradientOptions {
  std::optional<Of> of;
  std::optional<Absolute> absolute;
  std::optional<Normalize> normalize;
  Preset preset = Preset::none;
  std::optional<HeadUnit> unit;

  template <class V>
  void fields(V& v) {
    v("of", of, "what the loss is differentiated by: gate (default), context or weights");
    v("absolute", absolute,
      "with of: gate, where the absolute value is taken: example (default; each example's gradient), token (each query "
      "position's), batch (the batch's sum: depends on batch size) or signed (nowhere: minus the mean gradient)");
    v("normalize", normalize, "how the scores of different blocks are made comparable; default layer_l2");
    v("preset", preset,
      "a published definition in one word: paper (example, layer_l2), michel_code (token, layer_l2), textpruner "
      "(batch, "
      "none); it sets the three options above");
    v("unit", unit, kScoreUnitHelp);
  }

  Variant variant() const {
    const Variant base = variant_of(preset);
    return {of.value_or(base.of), absolute.value_or(base.absolute), normalize.value_or(base.normalize)};
  }

  CrossProblems problems() const {
    CrossProblems found;
    const Variant base = variant_of(preset), given = variant();
    if (preset != Preset::none) {
      const auto contradicts = [&](const char* key, const char* set) {
        found.emplace_back(key, fmt::format("preset {} sets {}: {}; drop one of the two", enum_name(preset), key, set));
      };
      if (given.of != base.of) contradicts("of", enum_name(base.of));
      if (given.absolute != base.absolute) contradicts("absolute", enum_name(base.absolute));
      if (given.normalize != base.normalize) contradicts("normalize", enum_name(base.normalize));
    } else if (given.of != Of::gate && absolute) {
      found.emplace_back("absolute", fmt::format("absolute: {} is defined for of: gate only; with of: {} leave it out",
                                                 enum_name(given.absolute), enum_name(given.of)));
    }
    return found;
  }
};

/// of: gate with absolute: example or signed, and of: context: means over examples.
class MeanPass final : public ScoreMethod::Pass {
 public:
  MeanPass(const Variant& variant, const ScoreInput& input) : variant_(variant), mean_("gradient_l1", input) {}

  void add(const Observation& seen) override {
    const ScoreUnits& units = mean_.units();
    for (size_t b = 0; b < units.blocks().size(); ++b)
      if (!units.blocks()[b].heads.empty()) mean_.add(b, of_example(seen, b), seen.batch);
  }
  RawScores finish() override { return mean_.finish(); }

 private:
  torch::Tensor of_example(const Observation& seen, size_t block) const {
    if (variant_.of == Of::context) {
      const torch::Tensor gradient = seen.context_gradients[block].to(torch::kFloat64).abs().sum(-1);  // [B, H, T]
      const torch::Tensor rows = query_mask(seen.batch, mean_.units().blocks()[block].id.kind);        // [B, 1, T]
      return mean_.units().sum(torch::where(rows, gradient, torch::zeros({}, gradient.options())).sum(-1),
                               block);  // [B, U]
    }
    const torch::Tensor gradient = mean_.units().sum(seen.gate_gradients[block].to(torch::kFloat64), block);  // [B, U]
    return variant_.absolute == Absolute::signed_ ? 0 - gradient : gradient.abs();
  }

  Variant variant_;
  ExampleMean mean_;
};

/// of: gate with absolute: token.
class TokenPass final : public ScoreMethod::Pass {
 public:
  explicit TokenPass(const ScoreInput& input) : ratio_("gradient_l1", input) {}

  void add(const Observation& seen) override {
    const ScoreUnits& units = ratio_.units();
    for (size_t b = 0; b < units.blocks().size(); ++b) {
      if (units.blocks()[b].heads.empty()) continue;
      const torch::Tensor gradient = seen.context_gradients[b].to(torch::kFloat64);                   // [B, H, T, Dv]
      const torch::Tensor context = seen.trace.contexts[b].to(torch::kFloat64);                       // [B, H, T, Dv]
      const torch::Tensor product = units.sum((context * gradient).sum(-1), b).abs();                 // [B, U, T]
      const torch::Tensor rows = query_mask(seen.batch, units.blocks()[b].id.kind);                   // [B, 1, T]
      const torch::Tensor values = torch::where(rows, product, torch::zeros({}, product.options()));  // [B, U, T]
      // Under a pooled classifier only the pooled positions of the last block do.
      const torch::Tensor carries = (gradient != 0).any(-1).any(1).logical_and(rows.squeeze(1));  // [B, T]
      ratio_.add(b, values.sum(-1), carries.sum(-1), seen.batch);
    }
  }
  RawScores finish() override { return ratio_.finish(); }

 private:
  ExampleRatio ratio_;
};

/// of: gate with absolute: batch. A sum of batches has no standard error over examples.
class BatchPass final : public ScoreMethod::Pass {
 public:
  explicit BatchPass(const ScoreInput& input)
      : units_(input.units()), survives_(surviving_heads(units_.blocks(), units_.removed())) {
    for (const torch::Tensor& survives : survives_) sums_.push_back(torch::zeros(survives.sizes(), torch::kFloat64));
  }

  void add(const Observation& seen) override {
    examples_ += seen.batch.size();
    const Blocks& blocks = units_.blocks();
    for (size_t b = 0; b < blocks.size(); ++b) {
      if (blocks[b].heads.empty()) continue;
      const torch::Tensor gradient = units_.sum(seen.gate_gradients[b].to(torch::kCPU, torch::kFloat64), b);  // [B, U]
      require_finite(gradient, seen.batch, {"gradient_l1", blocks[b], survives_[b], units_.unit()});
      sums_[b] = sums_[b] + gradient.sum(0).abs();  // [U]
    }
  }
  RawScores finish() override {
    RawScores raw;
    for (const torch::Tensor& sum : sums_) raw.values.push_back(sum / examples_);
    raw.n.assign(sums_.size(), examples_);
    return raw;
  }

 private:
  ScoreUnits units_;
  PerBlock survives_, sums_;  // [U]
  int64_t examples_ = 0;
};

/// of: weights.
class WeightsPass final : public ScoreMethod::Pass {
 public:
  explicit WeightsPass(const ScoreInput& input)
      : heads_(input.model.blocks()),
        units_(input.units()),
        groups_(heads_, input.removed, HeadUnit::group),
        survives_(surviving_heads(heads_, input.removed)),
        sums_(heads_.size()) {}

  void add(const Observation& seen) override {
    examples_ += seen.batch.size();
    for (size_t b = 0; b < heads_.size(); ++b) {
      if (heads_[b].heads.empty()) continue;
      const ProjectionGradients& of = seen.weight_gradients[b];
      const torch::Tensor own = torch::cat({of.query.flatten(1), of.output.flatten(1)}, 1).to(torch::kFloat64);
      const torch::Tensor shared = torch::cat({of.key.flatten(1), of.value.flatten(1)}, 1).to(torch::kFloat64);
      require_finite_batch(own, shared, seen.batch, b);
      Sums& sums = sums_[b];
      sums.own = sums.own.defined() ? sums.own + own : own;
      sums.shared = sums.shared.defined() ? sums.shared + shared : shared;
    }
  }
  RawScores finish() override {
    RawScores raw;
    for (size_t b = 0; b < heads_.size(); ++b) raw.values.push_back(of_units(b));
    raw.n.assign(heads_.size(), examples_);
    return raw;
  }

 private:
  struct Sums {
    torch::Tensor own;     // [H, weights of a head's query and output]
    torch::Tensor shared;  // [G, weights of a group's key and value]
  };

  /// [U] float64.
  torch::Tensor of_units(size_t block) const {
    const Sums& sums = sums_[block];
    if (!sums.own.defined()) return torch::zeros({0}, torch::kFloat64);
    const auto sizes = [&](const torch::Tensor& sum) { return (sum / examples_).abs().sum(1).cpu(); };
    return units_.sum(sizes(sums.own), sizes(sums.shared), block);  // [U]
  }

  /// A weight's gradient is the batch's, so the batch is as near as the message can come to the example.
  void require_finite_batch(const torch::Tensor& own, const torch::Tensor& shared, const Batch& batch,
                            size_t block) const {
    const auto not_finite = [](const torch::Tensor& of) { return of.isfinite().all(1).logical_not().cpu(); };
    const torch::Tensor bad = not_finite(own).logical_or(groups_.spread(not_finite(shared), block));  // [H]
    const torch::Tensor counts = bad.logical_and(survives_[block]);
    if (!counts.any().item<bool>()) return;
    const auto first = static_cast<size_t>(counts.nonzero()[0].item<int64_t>());
    fail(ExitCode::run_failed,
         "score gradient_l1: the weights of head {} get a gradient that is not finite from one of the examples {} of "
         "the score split; train the model further or differently, or leave that example out",
         to_string(HeadId{heads_[block].id, heads_[block].heads[first]}), fmt::join(batch.examples, ", "));
  }

  Blocks heads_;
  ScoreUnits units_, groups_;
  PerBlock survives_;  // [H]
  std::vector<Sums> sums_;
  int64_t examples_ = 0;
};

class GradientL1 final : public ScoreMethod {
 public:
  using Options = GradientOptions;
  explicit GradientL1(const Options& options)
      : variant_(options.variant()), unit_(options.unit.value_or(HeadUnit::query)) {}
  HeadUnit unit() const override { return unit_; }
  std::string note() const override { return unit_ == HeadUnit::group ? "unit: group" : ""; }
  Normalize normalize() const override { return variant_.normalize; }
  Needs needs() const override {
    Needs needs;
    needs.weight_gradients = variant_.of == Of::weights;
    needs.context_gradients = variant_.of == Of::context || token();
    needs.contexts = token();
    needs.gate_gradients = variant_.of == Of::gate && !token();
    return needs;
  }
  std::unique_ptr<Pass> start(const ScoreInput& input, int64_t) const override {
    if (variant_.of == Of::weights) return std::make_unique<WeightsPass>(input);
    if (token()) return std::make_unique<TokenPass>(input);
    if (variant_.of == Of::gate && variant_.absolute == Absolute::batch) return std::make_unique<BatchPass>(input);
    return std::make_unique<MeanPass>(variant_, input);
  }

 private:
  bool token() const { return variant_.of == Of::gate && variant_.absolute == Absolute::token; }

  Variant variant_;
  HeadUnit unit_;
};

const Register<ScoreMethod, GradientL1> register_gradient_l1{
    "gradient_l1", "size of the loss's gradient by each head's gate (Michel et al. 2019); one backward pass a batch"};

}  // namespace
}  // namespace headprune
