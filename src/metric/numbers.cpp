#include "metric/numbers.h"

#include <algorithm>
#include <cmath>

namespace headprune {

bool are_alike(double low, double high) {
  constexpr double kRounding = 1e-6;
  return high - low <= kRounding * std::max(std::abs(low), std::abs(high));
}

Columns number_columns(const Outcomes& outcomes) {
  std::vector<double> numbers, predictions;
  double lowest = INFINITY, highest = -INFINITY;
  for (const Outcome& outcome : outcomes) {
    numbers.push_back(outcome.number.value() - outcomes.front().number.value());
    predictions.push_back(outcome.predicted_number - outcomes.front().predicted_number);
    lowest = std::min(lowest, outcome.predicted_number);
    highest = std::max(highest, outcome.predicted_number);
  }
  if (are_alike(lowest, highest)) predictions.assign(predictions.size(), 0.0);
  return {.n = outcomes.size(), .columns = {std::move(numbers), std::move(predictions)}};
}

}  // namespace headprune
