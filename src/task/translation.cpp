// `translation`: a text from another.
#include <algorithm>

#include "data/translation_tokenizer.h"
#include "task/beam_search.h"
#include "task/bleu.h"
#include "task/chrf.h"
#include "task/losses.h"
#include "task/metrics.h"
#include "task/ngrams.h"

namespace headprune {

enum class TranslationMetric { bleu, chrf, loss, perplexity };
template <>
struct EnumNames<TranslationMetric> {
  static constexpr std::pair<const char*, TranslationMetric> names[] = {{"bleu", TranslationMetric::bleu},
                                                                        {"chrf", TranslationMetric::chrf},
                                                                        {"loss", TranslationMetric::loss},
                                                                        {"perplexity", TranslationMetric::perplexity}};
};

namespace {

bool needs_texts(TranslationMetric metric) {
  return metric == TranslationMetric::bleu || metric == TranslationMetric::chrf;
}

/// The corpus score is a function of sums over examples.
template <class Statistics>
ExampleMetric text_metric(const Outcomes& outcomes, Statistics (*statistics)(std::string_view, std::string_view),
                          double (*score)(std::span<const double>)) {
  std::vector<Statistics> rows;
  for (const Outcome& outcome : outcomes) rows.push_back(statistics(outcome.text, outcome.reference));
  return {.columns = statistic_columns(rows), .statistic = SumStatistic(score)};
}

ExampleMetric bleu_metric(const Outcomes& outcomes) { return text_metric(outcomes, bleu_statistics, bleu_of); }
ExampleMetric chrf_metric(const Outcomes& outcomes) { return text_metric(outcomes, chrf_statistics, chrf_of); }

/// A text that is so much longer than its source is no translation: where a pruned model repeats itself, it stops.
int64_t longest_text(int64_t source_tokens) { return 2 * source_tokens + 10; }

/// Without rows of the model's table that the vocabulary has no token for: transformers reads them as the unknown
/// token, which is special and left out.
std::vector<int64_t> spelled(std::vector<int64_t> ids, const TranslationTokenizer& tokenizer) {
  std::erase_if(ids, [&](int64_t id) { return id >= tokenizer.target_size(); });
  return ids;
}

}  // namespace

class Translation : public TokenTask {
 public:
  struct Options {
    std::vector<TranslationMetric> metrics = {TranslationMetric::bleu, TranslationMetric::loss};
    int64_t beam_width = 4;
    double length_penalty = 0.6;

    template <class V>
    void fields(V& v) {
      v("metrics", metrics,
        "what is measured, the first one in curves and tables: bleu and chrf (of the texts that the model writes, as "
        "sacreBLEU computes them), loss (nats per token of the target) and perplexity (its exponential). Choices on "
        "the select split go by the loss where the first is bleu or chrf",
        not_empty);
      v("beam_width", beam_width,
        "hypotheses of the beam search that writes texts; 1: greedy search. A text ends after 2 x source tokens + 10 "
        "tokens at the latest",
        between(1, kMostHypotheses));
      v("length_penalty", length_penalty,
        "power of (5 + length) / 6 by which a text's log probability is divided (Wu et al. 2016); 0: none",
        at_least(0));
    }
    CrossProblems problems() const { return repeated_metrics(metrics); }
  };

  explicit Translation(Options options) : options_(std::move(options)) {}
  DataKind data_kind() const override { return DataKind::translation; }

  std::vector<MetricInfo> metrics() const override {
    std::vector<MetricInfo> all;
    for (const TranslationMetric metric : options_.metrics) all.push_back(metric_info(enum_name(metric)));
    return all;
  }

  MetricInfo chosen_by() const override {
    if (needs_texts(options_.metrics.front())) return metric_info("loss");
    return metrics().front();
  }

  std::map<std::string, std::string> signatures() const override {
    std::map<std::string, std::string> all;
    for (const TranslationMetric metric : options_.metrics) {
      if (metric == TranslationMetric::bleu) all["bleu"] = kBleuSignature;
      if (metric == TranslationMetric::chrf) all["chrf"] = kChrfSignature;
    }
    return all;
  }

  void write(const WriteInput& input, Outcomes& outcomes) const override {
    if (std::none_of(options_.metrics.begin(), options_.metrics.end(), needs_texts)) return;
    SequenceWriter* const writer = input.model.writer();
    if (writer == nullptr) throw std::logic_error("a model that writes nothing is asked for translations");
    const auto& tokenizer = dynamic_cast<const TranslationTokenizer&>(input.tokenizer);
    const Batch& batch = input.batch;
    const torch::Tensor lengths = batch.present.sum(1).to(torch::kCPU);  // [B]
    std::vector<int64_t> limits;
    for (int64_t i = 0; i < batch.size(); ++i)
      limits.push_back(std::min(longest_text(lengths.const_data_ptr<int64_t>()[i]), writer->longest()));
    const BeamSearch search{.start = tokenizer.start(),
                            .end = tokenizer.end(),
                            .width = options_.beam_width,
                            .length_penalty = options_.length_penalty};
    const auto texts = write_texts(*writer, writer->start(input.memory, batch), input.gates, search, limits);
    for (size_t i = 0; i < texts.size(); ++i) {
      outcomes[i].text = tokenizer.decode_target(spelled(texts[i], tokenizer));
      outcomes[i].reference = batch.references[i];
    }
  }

  std::vector<MetricResult> evaluate(const MetricInput& input) const override {
    std::vector<MetricResult> results;
    for (const TranslationMetric metric : options_.metrics) results.push_back(evaluate_one(metric, input));
    return results;
  }

  double choice_value(const Outcomes& all) const override {
    return metric_value(chosen_by().name == "perplexity" ? perplexity_metric : loss_metric, all);
  }

 private:
  MetricResult evaluate_one(TranslationMetric metric, const MetricInput& input) const {
    switch (metric) {
      case TranslationMetric::bleu:
        return resampled_metric("bleu", bleu_metric, input, bootstrap_);
      case TranslationMetric::chrf:
        return resampled_metric("chrf", chrf_metric, input, bootstrap_);
      case TranslationMetric::loss:
        return mean_loss("loss", input, bootstrap_);
      default:
        return resampled_metric("perplexity", perplexity_metric, input, bootstrap_);
    }
  }

  Options options_;
  SharedBootstrap bootstrap_;
};

namespace {
const Register<Task, Translation> register_translation{"translation", "a text from another, measured by BLEU"};
}  // namespace

}  // namespace headprune
