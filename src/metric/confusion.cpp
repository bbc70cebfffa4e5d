#include "metric/confusion.h"

#include <algorithm>

namespace headprune {

int64_t label_count(const Outcomes& outcomes) {
  int64_t count = 0;
  for (const Outcome& outcome : outcomes)
    count = std::max({count, outcome.labels, outcome.target + 1, outcome.predicted + 1});
  return std::max<int64_t>(count, 2);
}

Columns confusion_columns(const Outcomes& outcomes) {
  const auto labels = static_cast<size_t>(label_count(outcomes));
  Columns columns{.n = outcomes.size(), .columns = {}};
  columns.columns.assign(3 * labels, std::vector<double>(outcomes.size(), 0.0));
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const auto target = static_cast<size_t>(outcomes[i].target);
    if (outcomes[i].predicted == outcomes[i].target) columns.columns[target][i] = 1;
    if (outcomes[i].predicted >= 0) columns.columns[labels + static_cast<size_t>(outcomes[i].predicted)][i] = 1;
    columns.columns[2 * labels + target][i] = 1;
  }
  return columns;
}

}  // namespace headprune
