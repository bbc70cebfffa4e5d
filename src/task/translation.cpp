// `translation`: a text from another.
#include <algorithm>

#include "data/translation_tokenizer.h"
#include "task/beam_search.h"
#include "task/losses.h"

namespace headprune {

namespace {

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
    std::vector<MetricOf<DataKind::translation>> metrics = {"bleu", "loss"};
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

  explicit Translation(Options options) : TokenTask(measured_metrics(options.metrics)), options_(std::move(options)) {}
  DataKind data_kind() const override { return DataKind::translation; }

  void write(const WriteInput& input, Outcomes& outcomes) const override {
    if (!measures_texts()) return;
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

 private:
  Options options_;
};

namespace {
const Register<Task, Translation> register_translation{"translation", "a text from another, measured by BLEU"};
}  // namespace

}  // namespace headprune
