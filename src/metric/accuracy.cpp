// `accuracy`: the share of examples whose prediction is their label; of choices, whose likeliest choice is right (acc
// of lm-evaluation-harness).
#include "metric/metric.h"

namespace headprune {
namespace {

class Accuracy final : public ProportionMetric {
 public:
  using Options = NoOptions;
  explicit Accuracy(Options) {}
  std::vector<DataKind> kinds() const override { return {DataKind::labelled, DataKind::choices}; }
  MetricInfo info(DataKind) const override {
    return {.higher_is_better = true, .range = {0, 1}, .unit = "share of examples", .proportion = true};
  }

 protected:
  bool right(const Outcome& outcome) const override { return outcome.predicted == outcome.target; }
};

const Register<Metric, Accuracy> register_accuracy{"accuracy", "examples predicted right, over all"};

}  // namespace
}  // namespace headprune
