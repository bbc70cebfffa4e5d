// Rise of the mean loss on the score split when the head alone is removed: what every other score estimates (the oracle
// of Michel et al. 2019, figure 3). Negative where the model does better without the head.
#include "score/masked_losses.h"

namespace headprune {
namespace {

enum class AblationMetric { loss, task };

}  // namespace

template <>
struct EnumNames<AblationMetric> {
  static constexpr std::pair<const char*, AblationMetric> names[] = {{"loss", AblationMetric::loss},
                                                                     {"task", AblationMetric::task}};
};

namespace {

class Ablation final : public ScoreMethod {
 public:
  struct Options {
    AblationMetric metric = AblationMetric::loss;
    std::optional<HeadUnit> unit;

    template <class V>
    void fields(V& v) {
      v("metric", metric,
        "loss: rise of the mean loss; task: fall of the metric that the task chooses by (of one whose lower values are "
        "better, its rise), which a few hundred examples tell apart much less well");
      v("unit", unit, kScoreUnitHelp);
    }
  };
  explicit Ablation(Options options) : options_(options) {}
  HeadUnit unit() const override { return options_.unit.value_or(HeadUnit::query); }
  Needs needs() const override {
    Needs needs;
    needs.data = false;
    return needs;
  }
  int64_t masks(const Blocks& heads) const override { return 1 + std::ssize(all_heads(in_units(heads, unit()))); }
  std::unique_ptr<Pass> start(const ScoreInput& input, int64_t) const override {
    return std::make_unique<TakeAway>(options_, input);
  }

 private:
  class TakeAway final : public Pass {
   public:
    TakeAway(const Options& options, const ScoreInput& input) : options_(options), input_(input) {}
    void add(const Observation&) override {}

    RawScores finish() override {
      MaskedLosses masked("ablation", input_);
      const Outcomes whole = masked.outcomes({});
      const bool of_task = options_.metric == AblationMetric::task;
      RawScores raw = blank_scores(masked.units().blocks(), std::ssize(whole), !of_task);
      for (size_t b = 0; b < raw.values.size(); ++b) {
        const BlockHeads& block = masked.units().blocks()[b];
        for (int64_t i = 0; i < block.count(); ++i) {
          const HeadId unit{block.id, block.heads[static_cast<size_t>(i)]};
          if (masked.units().removed().contains(unit)) continue;
          const Outcomes without = masked.outcomes(HeadSet({unit}));
          if (of_task)
            raw.values[b][i] = fall(whole, without);
          else
            set_score(raw, b, i, rise(MaskedLosses::losses(without) - MaskedLosses::losses(whole)));
        }
        if (whole.size() < 2 && !of_task) raw.stderr_[b] = torch::Tensor();
      }
      raw.masks = masked.masks();
      return raw;
    }

   private:
    double fall(const Outcomes& whole, const Outcomes& without) const {
      const double change = input_.task.choice_value(whole) - input_.task.choice_value(without);
      return input_.task.chosen_by().higher_is_better ? change : -change;
    }
    /// `rises` [N]: each example's.
    static UnitScore rise(const torch::Tensor& rises) {
      const auto n = static_cast<double>(rises.numel());
      return {split_means(rises), n > 1 ? rises.std().item<double>() / std::sqrt(n) : 0};
    }

    Options options_;
    ScoreInput input_;
  };

  Options options_;
};

const Register<ScoreMethod, Ablation> register_ablation{
    "ablation", "rise of the loss without the head (Michel et al. 2019, figure 3); a pass for each head"};

}  // namespace
}  // namespace headprune
