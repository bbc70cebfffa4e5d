// `language_modelling`: the next token at every position.
#include <numbers>

#include "task/losses.h"
#include "task/metrics.h"

namespace headprune {

enum class LanguageMetric { loss, perplexity, bits_per_char };
template <>
struct EnumNames<LanguageMetric> {
  static constexpr std::pair<const char*, LanguageMetric> names[] = {{"loss", LanguageMetric::loss},
                                                                     {"perplexity", LanguageMetric::perplexity},
                                                                     {"bits_per_char", LanguageMetric::bits_per_char}};
};

class LanguageModelling : public TokenTask {
 public:
  struct Options {
    std::vector<LanguageMetric> metrics = {LanguageMetric::loss, LanguageMetric::perplexity,
                                           LanguageMetric::bits_per_char};

    template <class V>
    void fields(V& v) {
      v("metrics", metrics,
        "what is measured, the first one in curves and tables: loss (nats per predicted token), perplexity (its "
        "exponential) and bits_per_char (loss / ln 2; of byte data, bits per byte)",
        not_empty);
    }
    CrossProblems problems() const { return repeated_metrics(metrics); }
  };

  explicit LanguageModelling(Options options) : options_(std::move(options)) {}
  DataKind data_kind() const override { return DataKind::language; }

  std::vector<MetricInfo> metrics() const override {
    std::vector<MetricInfo> all;
    for (const LanguageMetric metric : options_.metrics)
      all.push_back({.name = enum_name(metric), .higher_is_better = false});
    return all;
  }

  std::vector<MetricResult> evaluate(const MetricInput& input) const override {
    std::vector<MetricResult> results;
    for (const LanguageMetric metric : options_.metrics) {
      if (metric == LanguageMetric::loss)
        results.push_back(mean_loss("loss", /*scale=*/1, input, bootstrap_));
      else if (metric == LanguageMetric::bits_per_char)
        results.push_back(mean_loss("bits_per_char", /*scale=*/1 / std::numbers::ln2, input, bootstrap_));
      else
        results.push_back(resampled_metric("perplexity", perplexity_metric, input, bootstrap_));
    }
    return results;
  }

  double choice_value(const Outcomes& all) const override {
    const LanguageMetric first = options_.metrics.front();
    if (first == LanguageMetric::perplexity) return metric_value(perplexity_metric, all);
    const double loss = metric_value(loss_metric, all);
    return first == LanguageMetric::loss ? loss : loss / std::numbers::ln2;
  }

 private:
  Options options_;
  SharedBootstrap bootstrap_;
};

namespace {
const Register<Task, LanguageModelling> register_language_modelling{"language_modelling",
                                                                    "the next token at every position"};
}  // namespace

}  // namespace headprune
