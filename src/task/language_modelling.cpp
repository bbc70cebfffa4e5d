// `language_modelling`: the next token at every position.
#include "task/losses.h"

namespace headprune {

class LanguageModelling : public TokenTask {
 public:
  struct Options {
    std::vector<MetricOf<DataKind::language>> metrics = {"loss", "perplexity", "bits_per_char"};

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

  explicit LanguageModelling(const Options& options) : TokenTask(measured_metrics(options.metrics)) {}
  DataKind data_kind() const override { return DataKind::language; }
};

namespace {
const Register<Task, LanguageModelling> register_language_modelling{"language_modelling",
                                                                    "the next token at every position"};
}  // namespace

}  // namespace headprune
