// `language_modelling`: the next token at every position.
#include <numbers>

#include "core/error.h"
#include "task/losses.h"
#include "task/metrics.h"

namespace headprune {

enum class LanguageMetric { loss, perplexity, bits_per_char, bits_per_byte };
template <>
struct EnumNames<LanguageMetric> {
  static constexpr std::pair<const char*, LanguageMetric> names[] = {{"loss", LanguageMetric::loss},
                                                                     {"perplexity", LanguageMetric::perplexity},
                                                                     {"bits_per_char", LanguageMetric::bits_per_char},
                                                                     {"bits_per_byte", LanguageMetric::bits_per_byte}};
};

namespace {

int64_t length_in(LanguageMetric unit, const Outcome& outcome) {
  return unit == LanguageMetric::bits_per_char ? outcome.characters : outcome.bytes;
}

/// Bits in the place of nats a token, weighted by characters or bytes in the place of tokens.
Outcomes bits(LanguageMetric unit, Outcomes outcomes) {
  for (Outcome& outcome : outcomes) {
    const auto length = static_cast<double>(length_in(unit, outcome));
    outcome.loss *= outcome.weight / length / std::numbers::ln2;
    outcome.weight = length;
  }
  return outcomes;
}

}  // namespace

class LanguageModelling : public TokenTask {
 public:
  struct Options {
    std::vector<LanguageMetric> metrics = {LanguageMetric::loss, LanguageMetric::perplexity,
                                           LanguageMetric::bits_per_char};

    template <class V>
    void fields(V& v) {
      v("metrics", metrics,
        "what is measured, the first one in curves and tables: loss (nats per predicted token), perplexity (its "
        "exponential), bits_per_char and bits_per_byte (all nats / ln 2 over the characters or bytes of the predicted "
        "text, whatever its tokens are; left out, with a message, where the tokenizer does not keep the text)",
        not_empty);
    }
    CrossProblems problems() const { return repeated_metrics(metrics); }
  };

  explicit LanguageModelling(Options options) : options_(std::move(options)) {}
  DataKind data_kind() const override { return DataKind::language; }

  void prepare(const Dataset& dataset) override {
    for (const auto& split : {dataset.train, dataset.score, dataset.select, dataset.report})
      for (const Example& example : split->examples) {
        has_characters_ = has_characters_ && example.characters > 0;
        has_bytes_ = has_bytes_ && example.bytes > 0;
      }
    if (!has(options_.metrics.front()))
      fail(ExitCode::usage, "task.metrics: {} cannot come first: {}; put loss first",
           enum_name(options_.metrics.front()), kNoLength);
  }
  std::map<std::string, std::string> unavailable() const override {
    std::map<std::string, std::string> missing;
    for (const LanguageMetric metric : options_.metrics)
      if (!has(metric)) missing.emplace(enum_name(metric), kNoLength);
    return missing;
  }

  std::vector<MetricInfo> metrics() const override {
    std::vector<MetricInfo> all;
    for (const LanguageMetric metric : available()) all.push_back(metric_info(enum_name(metric)));
    return all;
  }

  std::vector<MetricResult> evaluate(const MetricInput& input) const override {
    std::vector<MetricResult> results;
    for (const LanguageMetric metric : available()) {
      if (metric == LanguageMetric::loss)
        results.push_back(mean_loss("loss", input, bootstrap_));
      else if (metric == LanguageMetric::perplexity)
        results.push_back(resampled_metric("perplexity", perplexity_metric, input, bootstrap_));
      else
        results.push_back(mean_bits(metric, input));
    }
    return results;
  }

  double choice_value(const Outcomes& all) const override {
    const LanguageMetric first = options_.metrics.front();
    if (first == LanguageMetric::perplexity) return metric_value(perplexity_metric, all);
    return metric_value(loss_metric, first == LanguageMetric::loss ? all : bits(first, all));
  }

 private:
  static constexpr const char* kNoLength =
      "how much text the tokens of a window stand for is not known, or is less than one character";

  bool has(LanguageMetric metric) const {
    if (metric == LanguageMetric::bits_per_char) return has_characters_;
    return metric != LanguageMetric::bits_per_byte || has_bytes_;
  }

  std::vector<LanguageMetric> available() const {
    std::vector<LanguageMetric> all;
    for (const LanguageMetric metric : options_.metrics)
      if (has(metric)) all.push_back(metric);
    return all;
  }

  MetricResult mean_bits(LanguageMetric metric, const MetricInput& input) const {
    const Outcomes now = bits(metric, input.outcomes), before = input.base ? bits(metric, *input.base) : Outcomes();
    return mean_loss(enum_name(metric),
                     {.outcomes = now,
                      .base = input.base ? &before : nullptr,
                      .bootstrap_iters = input.bootstrap_iters,
                      .seed = input.seed},
                     bootstrap_);
  }

  Options options_;
  bool has_characters_ = true, has_bytes_ = true;  // each window of the data has some
  SharedBootstrap bootstrap_;
};

namespace {
const Register<Task, LanguageModelling> register_language_modelling{"language_modelling",
                                                                    "the next token at every position"};
}  // namespace

}  // namespace headprune
