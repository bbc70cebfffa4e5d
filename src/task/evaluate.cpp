#include <numeric>

#include "core/stop.h"
#include "task/task.h"

namespace headprune {

std::vector<Outcomes> evaluate_masks(Model& model, const Task& task, const std::vector<Batch>& batches,
                                     const std::vector<HeadSet>& masks) {
  const int64_t examples = std::accumulate(batches.begin(), batches.end(), int64_t{0},
                                           [](int64_t sum, const Batch& batch) { return sum + batch.size(); });
  std::vector<Outcomes> results(masks.size(), Outcomes(static_cast<size_t>(examples)));
  if (batches.empty()) return results;

  const FrozenModel frozen(model);
  const torch::NoGradGuard no_grad;
  std::vector<HeadProbe> probes(masks.size());
  for (size_t mask = 0; mask < masks.size(); ++mask)
    if (!masks[mask].empty())
      probes[mask].gates = mask_gates(model.blocks(), masks[mask], batches.front().tokens.device());

  for (const Batch& batch : batches) {
    check_stop();
    for (size_t mask = 0; mask < masks.size(); ++mask) {
      const Outcomes found = task.outcomes(model.forward(batch, probes[mask]).values, batch);
      for (size_t i = 0; i < found.size(); ++i) {
        const int64_t example = batch.examples[i];
        TORCH_CHECK(example >= 0 && example < examples, "the batches do not cover a split");
        results[mask][static_cast<size_t>(example)] = found[i];
      }
    }
  }
  return results;
}

}  // namespace headprune
