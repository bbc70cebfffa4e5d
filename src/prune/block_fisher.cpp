#include "prune/block_fisher.h"

#include <algorithm>
#include <limits>

#include "core/stop.h"
#include "score/observe.h"

namespace headprune {
namespace {

/// m^T F m over the places that m names. F [U, U] = G^T G, row after row.
double form(const std::vector<double>& fisher, int64_t units, const std::vector<int64_t>& places) {
  double sum = 0;
  for (const int64_t a : places)
    for (const int64_t b : places) sum += fisher[static_cast<size_t>(a * units + b)];
  return sum;
}

std::vector<double> fisher_matrix(const torch::Tensor& gradients) {
  const torch::Tensor all = gradients.t().matmul(gradients).contiguous();  // [U, U]
  const double* const data = all.const_data_ptr<double>();
  return {data, data + all.numel()};
}

/// n over k, or kMostChoices + 1 where it is more than that.
int64_t choices(int64_t n, int64_t k) {
  double count = 1;
  for (int64_t i = 1; i <= std::min(k, n - k); ++i) count *= static_cast<double>(n - i + 1) / static_cast<double>(i);
  return count > kMostChoices ? kMostChoices + 1 : static_cast<int64_t>(count + 0.5);
}

/// The best of all ways to take `count` of the free places.
std::vector<int64_t> best_of_all(const std::vector<double>& fisher, int64_t units, const std::vector<int64_t>& free,
                                 size_t count) {
  std::vector<bool> taken(free.size(), false);
  std::fill(taken.begin(), taken.begin() + static_cast<int64_t>(count), true);
  std::vector<int64_t> best;
  double least = std::numeric_limits<double>::infinity();
  do {
    std::vector<int64_t> places;
    for (size_t i = 0; i < free.size(); ++i)
      if (taken[i]) places.push_back(free[i]);
    if (const double cost = form(fisher, units, places); cost < least) {
      least = cost;
      best = std::move(places);
    }
  } while (std::prev_permutation(taken.begin(), taken.end()));
  return best;
}

/// The best exchange of one place for another, again and again.
std::vector<int64_t> by_exchanges(const std::vector<double>& fisher, int64_t units, const std::vector<int64_t>& free,
                                  std::vector<int64_t> places) {
  for (double least = form(fisher, units, places);;) {
    std::vector<int64_t> best;
    for (size_t i = 0; i < places.size(); ++i)
      for (const int64_t other : free) {
        if (std::find(places.begin(), places.end(), other) != places.end()) continue;
        std::vector<int64_t> changed = places;
        changed[i] = other;
        if (const double cost = form(fisher, units, changed); cost < least) {
          least = cost;
          best = std::move(changed);
        }
      }
    if (best.empty()) return places;
    places = std::move(best);
  }
}

}  // namespace

PerBlock gate_gradients(const ScoreInput& input) {
  Needs needs;
  needs.gate_gradients = true;
  const Observer observer(input, needs);
  const ScoreUnits units = input.units();
  std::vector<std::vector<torch::Tensor>> rows(units.blocks().size());
  std::vector<int64_t> examples;
  size_t done = 0;
  for (const Batch& batch : input.batches) {
    check_stop();
    const Observation seen = observer.observe(batch);
    for (size_t b = 0; b < rows.size(); ++b)
      if (!units.blocks()[b].heads.empty())
        rows[b].push_back(units.sum(seen.gate_gradients[b].to(torch::kCPU, torch::kFloat64), b));  // [B, U]
    examples.insert(examples.end(), batch.examples.begin(), batch.examples.end());
    if (input.on_batch) input.on_batch(++done);
  }
  // In the order of the split, so that sums do not depend on how examples were put into batches.
  const torch::Tensor order = torch::tensor(examples, torch::kInt64).argsort();
  PerBlock gradients;
  for (const auto& block : rows)
    gradients.push_back(block.empty() ? torch::Tensor() : torch::cat(block).index_select(0, order));  // [N, U]
  return gradients;
}

double block_fisher(const torch::Tensor& gradients, const std::vector<int64_t>& removed) {
  return form(fisher_matrix(gradients), gradients.size(1), removed);
}

std::vector<int64_t> rearranged(const torch::Tensor& gradients, const std::vector<int64_t>& removed,
                                const std::vector<bool>& fixed) {
  const int64_t units = gradients.size(1);
  std::vector<int64_t> free, movable;
  for (int64_t u = 0; u < units; ++u)
    if (!fixed[static_cast<size_t>(u)]) free.push_back(u);
  for (const int64_t place : removed)
    if (!fixed[static_cast<size_t>(place)]) movable.push_back(place);
  if (movable.empty() || movable.size() == free.size()) return removed;
  const std::vector<double> fisher = fisher_matrix(gradients);
  const bool all = choices(std::ssize(free), std::ssize(movable)) <= kMostChoices;
  std::vector<int64_t> best =
      all ? best_of_all(fisher, units, free, movable.size()) : by_exchanges(fisher, units, free, movable);
  if (!(form(fisher, units, best) < form(fisher, units, movable))) best = movable;
  for (const int64_t place : removed)
    if (fixed[static_cast<size_t>(place)]) best.push_back(place);
  std::sort(best.begin(), best.end());
  return best;
}

}  // namespace headprune
