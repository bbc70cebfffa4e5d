// `synthetic`: a generated task that only attention can solve, and that a tiny encoder learns in seconds.
//
//   [CLS] c? a? d? b?  a=2 d=0 ~ b=1 c=3      label 3
//
// First every key is asked for, in random order; only the first question counts. Then come the facts, one for each key,
// in random order, with fillers in between; the label is the value of the key that was asked for first. Each value
// occurs equally often among the facts, so counts of tokens tell nothing: the same tokens in another order have another
// label. Without attention an example cannot be solved better than by chance, 1 / classes. For regression the value
// itself is the number.
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/random.h"
#include "data/source.h"
#include "data/splits.h"
#include "data/vocabulary.h"

namespace headprune {

struct SyntheticCounts {
  int64_t train = 4000, dev = 1000, test = 1000;

  template <class V>
  void fields(V& v) {
    v("train", train, "examples of the train part", at_least(1));
    v("dev", dev, "examples of the dev part", at_least(1));
    v("test", test, "examples of the test part", at_least(1));
  }
};

namespace {

/// A sequence belongs to one part by its hash, so that the parts share no sequence.
Part home_of(const std::vector<int64_t>& tokens) {
  std::string text;
  for (const int64_t token : tokens) text += fmt::format("{} ", token);
  return kParts[stream_seed(0, text) % kParts.size()];
}

}  // namespace

class SyntheticSource : public DataSource {
 public:
  struct Options {
    SyntheticCounts examples;
    int64_t keys = 4;
    int64_t classes = 4;
    int64_t fillers = 0;
    double noise = 0;
    RoleOptions roles;

    template <class V>
    void fields(V& v) {
      v("examples", examples, "how many examples to generate");
      v("keys", keys, "questions and facts of a sequence, which has 1 + 2 keys tokens and its fillers", between(3, 64));
      v("classes", classes, "values of a fact; divides keys", between(2, 64));
      v("fillers", fillers, "up to this many meaningless tokens between the facts, a random number in each sequence",
        between(0, 1000));
      v("noise", noise, "fraction of labels, in every part, that are replaced by a random one", between(0, 1));
      roles.fields(v);
    }
    CrossProblems problems() const {
      if (keys % classes == 0) return {};
      return {{"classes", "must divide keys, so that every value occurs equally often"}};
    }
  };

  explicit SyntheticSource(Options options) : options_(std::move(options)) {}
  bool gives(DataKind kind) const override { return kind == DataKind::labelled || kind == DataKind::numbered; }
  std::vector<InputFile> inputs() const override { return {}; }
  Dataset load(const LoadInput& input) const override;

 private:
  std::vector<std::string> tokens() const;
  Example draw(Random& random) const;
  std::vector<Example> generate(Part part, const LoadInput& input) const;

  // Ids in the order of tokens().
  int64_t question(int64_t key) const { return Vocabulary::kSpecials + key; }
  int64_t fact(int64_t key, int64_t value) const {
    return Vocabulary::kSpecials + options_.keys + key * options_.classes + value;
  }
  int64_t filler() const { return fact(options_.keys, 0); }

  Options options_;
};

std::vector<std::string> SyntheticSource::tokens() const {
  std::vector<std::string> names;
  for (int64_t key = 0; key < options_.keys; ++key) names.push_back(fmt::format("k{}?", key));
  for (int64_t key = 0; key < options_.keys; ++key)
    for (int64_t value = 0; value < options_.classes; ++value) names.push_back(fmt::format("k{}={}", key, value));
  names.push_back("~");
  return names;
}

Example SyntheticSource::draw(Random& random) const {
  std::vector<int64_t> values(static_cast<size_t>(options_.keys)), asked(values.size()), told;
  for (size_t key = 0; key < values.size(); ++key) values[key] = static_cast<int64_t>(key) % options_.classes;
  random.shuffle(values);
  std::iota(asked.begin(), asked.end(), 0);
  random.shuffle(asked);
  for (size_t key = 0; key < values.size(); ++key) told.push_back(fact(static_cast<int64_t>(key), values[key]));
  told.insert(told.end(), random.below(static_cast<uint64_t>(options_.fillers) + 1), filler());
  random.shuffle(told);

  Example example;
  example.special.push_back(0);
  example.tokens.push_back(Vocabulary::kClassification);
  for (const int64_t key : asked) example.tokens.push_back(question(key));
  example.tokens.insert(example.tokens.end(), told.begin(), told.end());
  example.label = values[static_cast<size_t>(asked.front())];
  return example;
}

std::vector<Example> SyntheticSource::generate(Part part, const LoadInput& input) const {
  Random random(input.seed, fmt::format("data/synthetic/{}", enum_name(part)));
  std::vector<Example> examples;
  while (static_cast<int64_t>(examples.size()) < part_of(options_.examples, part)) {
    Example example = draw(random);
    if (home_of(example.tokens) == part) examples.push_back(std::move(example));
  }
  // A stream of its own, so that noise moves nothing else.
  Random noise(input.seed, fmt::format("data/synthetic/noise/{}", enum_name(part)));
  for (Example& example : examples)
    if (noise.uniform() < options_.noise)
      example.label = static_cast<int64_t>(noise.below(static_cast<uint64_t>(options_.classes)));
  if (input.kind == DataKind::numbered)
    for (Example& example : examples) example.number = static_cast<double>(std::exchange(example.label, -1));
  return examples;
}

Dataset SyntheticSource::load(const LoadInput& input) const {
  Dataset dataset;
  dataset.name = "synthetic";
  const auto vocabulary = std::make_shared<const Vocabulary>(Vocabulary::of(tokens()));
  const auto loaded = std::dynamic_pointer_cast<const Vocabulary>(input.tokenizer);
  if (input.tokenizer && !(loaded && *loaded == *vocabulary))
    fail(ExitCode::usage,
         "the loaded model's vocabulary ({} tokens) is not that of this synthetic data ({}); set data.keys and "
         "data.classes as they were when it was trained",
         input.tokenizer->size(), vocabulary->size());
  dataset.tokenizer = vocabulary;
  dataset.kind = input.kind;
  PartExamples examples;
  for (const Part part : kParts)
    if (options_.roles.uses(part)) examples_of(examples, part) = generate(part, input);
  if (dataset.kind == DataKind::labelled) {
    std::vector<std::string> values;
    for (int64_t value = 0; value < options_.classes; ++value) values.push_back(fmt::format("{}", value));
    const LabelAnswer labels =
        settle_labels({.trained = values, .found = values, .trains = input.trains, .model = input.model});
    dataset.labels = labels.names;
    dataset.label_notes = labels.notes;
    if (!labels.warning.empty()) warn(dataset, labels.warning);
    for (std::vector<Example>& part : examples)
      for (Example& example : part) example.label = labels.outputs.at(values[static_cast<size_t>(example.label)]);
  }
  assign_roles(dataset, std::move(examples), options_.roles, input.seed);
  return dataset;
}

namespace {
const Register<DataSource, SyntheticSource> register_synthetic{
    "synthetic", "a generated task of questions and facts that only attention can solve; needs no file"};
}  // namespace

}  // namespace headprune
