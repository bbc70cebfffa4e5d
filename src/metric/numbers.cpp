#include "metric/numbers.h"

#include <algorithm>
#include <cmath>

namespace headprune {

Columns number_columns(const Outcomes& outcomes) {
  constexpr double kRounding = 1e-6;
  std::vector<double> numbers, predictions;
  double lowest = INFINITY, highest = -INFINITY;
  for (const Outcome& outcome : outcomes) {
    numbers.push_back(outcome.number.value() - outcomes.front().number.value());
    predictions.push_back(outcome.predicted_number - outcomes.front().predicted_number);
    lowest = std::min(lowest, outcome.predicted_number);
    highest = std::max(highest, outcome.predicted_number);
  }
  if (highest - lowest <= kRounding * std::max(std::abs(lowest), std::abs(highest)))
    predictions.assign(predictions.size(), 0.0);
  return {.n = outcomes.size(), .columns = {std::move(numbers), std::move(predictions)}};
}

}  // namespace headprune
