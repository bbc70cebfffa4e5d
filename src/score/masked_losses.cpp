#include "score/masked_losses.h"

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

MaskedLosses::MaskedLosses(std::string score, const ScoreInput& input)
    : score_(std::move(score)),
      input_(input),
      units_(input.units()),
      heads_(input.model.blocks()),
      present_(without(all_heads(units_.blocks()), units_.removed())),
      evaluator_(input.model, input.task, input.batches, input.memory) {}

Outcomes MaskedLosses::outcomes(const HeadSet& without) {
  check_stop();
  HeadSet removed = input_.removed;
  for (const HeadId& head : heads_of_units(without, heads_, units_.unit()).heads()) removed.insert(head);
  Outcomes outcomes = evaluator_.evaluate(removed);
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
