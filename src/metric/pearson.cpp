// `pearson`: correlation of the numbers with their predictions.
#include "metric/numbers.h"
#include "stats/correlation.h"

namespace headprune {
namespace {

class Pearson final : public CorrelationMetric {
 public:
  explicit Pearson(Options) {}

 protected:
  ExampleMetric of_corpus(const Outcomes& outcomes) const override {
    Columns columns = number_columns(outcomes);
    const std::vector<double> a = columns.columns[0], b = columns.columns[1];
    for (const auto& [left, right] : {std::pair(&a, &a), std::pair(&b, &b), std::pair(&a, &b)}) {
      std::vector<double>& product = columns.columns.emplace_back();
      for (size_t i = 0; i < a.size(); ++i) product.push_back((*left)[i] * (*right)[i]);
    }
    columns.columns.emplace_back(a.size(), 1.0);
    return {.columns = std::move(columns), .statistic = [](std::span<const double> sums) {
              return correlation_of_sums(
                  {.n = sums[5], .a = sums[0], .b = sums[1], .aa = sums[2], .bb = sums[3], .ab = sums[4]});
            }};
  }
};

const Register<Metric, Pearson> register_pearson{"pearson", "Pearson correlation of numbers and predictions"};

}  // namespace
}  // namespace headprune
