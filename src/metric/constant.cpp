#include "metric/constant.h"

#include <algorithm>
#include <cmath>

#include "core/json.h"
#include "metric/numbers.h"

namespace headprune {

std::optional<std::string> constant_prediction(const Outcomes& outcomes) {
  if (outcomes.size() < 2) return std::nullopt;
  const Outcome& first = outcomes.front();
  const auto all = [&](const auto& alike) { return std::all_of(outcomes.begin(), outcomes.end(), alike); };
  if (first.number) {
    if (!all([](const Outcome& one) { return std::isfinite(one.predicted_number); })) return std::nullopt;
    const auto [low, high] =
        std::minmax_element(outcomes.begin(), outcomes.end(),
                            [](const Outcome& a, const Outcome& b) { return a.predicted_number < b.predicted_number; });
    if (!are_alike(low->predicted_number, high->predicted_number)) return std::nullopt;
    return fmt::format("{:.6g}", first.predicted_number);
  }
  if (!first.reference.empty()) {
    if (!all([&](const Outcome& one) { return one.text == first.text; })) return std::nullopt;
    return "'" + first.text + "'";
  }
  if (first.target < 0 || first.predicted < 0) return std::nullopt;
  if (!all([&](const Outcome& one) { return one.predicted == first.predicted; })) return std::nullopt;
  return std::to_string(first.predicted);
}

}  // namespace headprune
