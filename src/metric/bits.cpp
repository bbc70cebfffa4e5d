// `bits_per_char` and `bits_per_byte`: all nats over ln 2 and over the length of the predicted text, whatever its
// tokens are.
#include <numbers>

#include "metric/metric.h"

namespace headprune {
namespace {

/// Bits in the place of nats a token, weighted by a text's length in the place of tokens.
class Bits : public MeanMetric {
 public:
  using Options = NoOptions;
  std::vector<DataKind> kinds() const override { return {DataKind::language}; }
  std::string missing(const Dataset& dataset) const override {
    for (const auto& split : {dataset.train, dataset.score, dataset.select, dataset.report})
      for (const Example& example : split->examples)
        if (length(example) <= 0)
          return "how much text the tokens of a window stand for is not known, or is less than one character";
    return "";
  }

 protected:
  virtual int64_t length(const Example& example) const = 0;
  virtual int64_t length(const Outcome& outcome) const = 0;
  WeightedValue of_example(const Outcome& outcome) const override {
    const auto units = static_cast<double>(length(outcome));
    return {outcome.loss * (outcome.weight / units / std::numbers::ln2), units};
  }
};

class BitsPerChar final : public Bits {
 public:
  explicit BitsPerChar(Options) {}
  MetricInfo info(DataKind) const override {
    return {.higher_is_better = false, .range = {.low = 0}, .unit = "bits per character"};
  }

 protected:
  int64_t length(const Example& example) const override { return example.characters; }
  int64_t length(const Outcome& outcome) const override { return outcome.characters; }
};

class BitsPerByte final : public Bits {
 public:
  explicit BitsPerByte(Options) {}
  MetricInfo info(DataKind) const override {
    return {.higher_is_better = false, .range = {.low = 0}, .unit = "bits per byte"};
  }

 protected:
  int64_t length(const Example& example) const override { return example.bytes; }
  int64_t length(const Outcome& outcome) const override { return outcome.bytes; }
};

const Register<Metric, BitsPerChar> register_bits_per_char{
    "bits_per_char", "bits over characters of the predicted text; only where the tokenizer keeps the text"};
const Register<Metric, BitsPerByte> register_bits_per_byte{
    "bits_per_byte", "bits over bytes of the predicted text; only where the tokenizer keeps the text"};

}  // namespace
}  // namespace headprune
