// `loss`: what training minimises, without label smoothing; of regression the squared error, of choices that of the
// right one. Examples weigh by their positions.
#include "metric/metric.h"

namespace headprune {
namespace {

class Loss final : public MeanMetric {
 public:
  using Options = NoOptions;
  explicit Loss(Options) {}
  std::vector<DataKind> kinds() const override {
    return {DataKind::labelled, DataKind::numbered, DataKind::language, DataKind::translation, DataKind::choices};
  }
  MetricInfo info(DataKind kind) const override {
    const char* unit = kind == DataKind::numbered   ? "squared units of the number"
                       : kind == DataKind::labelled ? "nats per example"
                                                    : "nats per token";
    return {.higher_is_better = false, .range = {.low = 0}, .unit = unit};
  }

 protected:
  WeightedValue of_example(const Outcome& outcome) const override { return {outcome.loss, outcome.weight}; }
};

const Register<Metric, Loss> register_loss{"loss", "mean cross entropy; of regression, mean squared error"};

}  // namespace
}  // namespace headprune
