#include "score/masked_losses.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/stop.h"

namespace headprune {
namespace {

std::vector<HeadId> without(std::vector<HeadId> units, const HeadSet& removed) {
  std::erase_if(units, [&](const HeadId& unit) { return removed.contains(unit); });
  return units;
}

}  // namespace

SplitMeans split_means(const torch::Tensor& of_examples) {
  const int64_t n = of_examples.numel();
  SplitMeans means{of_examples.mean().item<double>(), 0, 0};
  for (int64_t half = 0; half < std::min<int64_t>(n, 2); ++half)
    means[static_cast<size_t>(half) + 1] = of_examples.slice(0, half, n, 2).mean().item<double>();
  return means;
}

RawScores blank_scores(const Blocks& blocks, int64_t examples, bool error) {
  RawScores scores;
  for (const BlockHeads& block : blocks) {
    const auto zeros = [&] { return torch::zeros({block.count()}, torch::kFloat64); };
    scores.values.push_back(zeros());
    scores.n.push_back(examples);
    if (error) scores.stderr_.push_back(zeros());
    if (error && examples > 1)
      for (PerBlock& half : scores.halves) half.push_back(zeros());
  }
  return scores;
}

void set_score(RawScores& scores, size_t block, int64_t unit, const UnitScore& score) {
  scores.values[block][unit] = score.means[0];
  scores.stderr_[block][unit] = score.error;
  for (size_t half = 0; half < 2; ++half)
    if (!scores.halves[half].empty()) scores.halves[half][block][unit] = score.means[half + 1];
}

MaskedLosses::MaskedLosses(std::string score, const ScoreInput& input)
    : score_(std::move(score)),
      input_(input),
      units_(input.units()),
      heads_(input.model.blocks()),
      present_(without(all_heads(units_.blocks()), units_.removed())),
      evaluator_(input.model, input.task, input.batches, input.memory) {}

Outcomes MaskedLosses::outcomes(const HeadSet& without) {
  check_stop();
  Outcomes outcomes = evaluator_.evaluate(input_.removed.with(heads_of_units(without, heads_, units_.unit())));
  for (size_t i = 0; i < outcomes.size(); ++i)
    if (!std::isfinite(outcomes[i].loss))
      fail(ExitCode::run_failed,
           "score {}: the loss of example {} of the score split is {} without {}; the model overflows there: train it "
           "further or differently, or leave that example out",
           score_, i, outcomes[i].loss,
           without.empty() ? "any head removed" : unit_text(without.heads().front(), units_.unit()));
  ++masks_;
  if (input_.on_mask) input_.on_mask(masks_);
  return outcomes;
}

torch::Tensor MaskedLosses::losses(const Outcomes& outcomes) {
  torch::Tensor losses = torch::empty({std::ssize(outcomes)}, torch::kFloat64);  // [N]
  auto* const values = losses.mutable_data_ptr<double>();
  for (size_t i = 0; i < outcomes.size(); ++i) values[i] = outcomes[i].loss;
  return losses;
}

}  // namespace headprune
