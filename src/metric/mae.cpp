// `mae`: mean absolute error.
#include <cmath>

#include "metric/metric.h"

namespace headprune {
namespace {

class MeanAbsoluteError final : public MeanMetric {
 public:
  using Options = NoOptions;
  explicit MeanAbsoluteError(Options) {}
  std::vector<DataKind> kinds() const override { return {DataKind::numbered}; }
  MetricInfo info(DataKind) const override {
    return {.higher_is_better = false, .range = {.low = 0}, .unit = "units of the number"};
  }

 protected:
  WeightedValue of_example(const Outcome& outcome) const override {
    return {std::abs(outcome.predicted_number - outcome.number.value()), outcome.weight};
  }
};

const Register<Metric, MeanAbsoluteError> register_mae{"mae", "mean absolute error"};

}  // namespace
}  // namespace headprune
