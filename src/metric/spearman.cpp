// `spearman`: correlation of ranks (average ranks, taken anew in every resample).
#include "metric/numbers.h"
#include "stats/correlation.h"

namespace headprune {
namespace {

class Spearman final : public CorrelationMetric {
 public:
  explicit Spearman(Options) {}

 protected:
  ExampleMetric of_corpus(const Outcomes& outcomes) const override {
    Columns columns = number_columns(outcomes);
    CountStatistic of_counts = SpearmanOfCounts(columns.columns[0], columns.columns[1]);
    return {.columns = std::move(columns), .statistic = std::move(of_counts)};
  }
};

const Register<Metric, Spearman> register_spearman{"spearman", "Spearman correlation of numbers and predictions"};

}  // namespace
}  // namespace headprune
