// The task `translation`: texts that the model writes, and what is measured of them.
#include "config/load.h"
#include "core/random.h"
#include "data/translation_tokenizer.h"
#include "metric/bleu.h"
#include "metric/ngrams.h"
#include "model/support.h"
#include "task/mask_evaluator.h"
#include "task/task.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

/// Pairs of texts over a few words, with a vocabulary learnt from them.
struct Pairs {
  std::shared_ptr<const TranslationTokenizer> tokenizer;
  Split split;

  explicit Pairs(int64_t count) {
    const char* const words[] = {"ein", "alter", "mann", "sieht", "den", "hund", "und", "lacht", "heute", "nicht"};
    Random random(5);
    std::vector<std::string> sources, targets;
    for (int64_t i = 0; i < count; ++i)
      for (auto* texts : {&sources, &targets}) {
        std::string text;
        for (uint64_t word = 0, last = 1 + random.below(6); word < last; ++word)
          text += (word > 0 ? " " : "") + std::string(words[random.below(10)]);
        texts->push_back(text);
      }
    tokenizer = TranslationTokenizer::learn(sources, targets, {.size = 40});
    for (size_t i = 0; i < sources.size(); ++i) {
      Example example;
      example.tokens = tokenizer->encode(sources[i]);
      example.tokens.push_back(tokenizer->end());
      example.targets = tokenizer->encode_target(targets[i]);
      example.decoder_tokens = example.targets;
      example.decoder_tokens.insert(example.decoder_tokens.begin(), tokenizer->start());
      example.targets.push_back(tokenizer->end());
      example.reference = targets[i];
      split.examples.push_back(std::move(example));
    }
  }

  std::shared_ptr<EncoderDecoder> model() const {
    TransformerConfig config = small_translator(NormOrder::pre, /*joint=*/true);
    config.vocabulary_size = tokenizer->size();
    const auto model = small_translator_model(config);
    model->to(torch::kFloat64);
    return model;
  }
};

std::shared_ptr<const Task> translation(const std::string& metrics, int64_t width = 2) {
  struct Holder {
    Plugin<Task> task;
    void fields(FieldList& v) { v("task", task, "task"); }
  };
  return load_config<Holder>(
             ConfigText{"t.yaml",
                        fmt::format("task: {{type: translation, metrics: {}, beam_width: {}}}\n", metrics, width), "."})
      .value.task.make();
}

std::vector<std::string> texts_of(const Outcomes& outcomes) {
  std::vector<std::string> texts;
  for (const Outcome& outcome : outcomes) texts.push_back(outcome.text);
  return texts;
}

}  // namespace

TEST_CASE("texts under a mask do not depend on batches, on what masks share, nor on how heads are removed",
          "[task][translation]") {
  const Pairs pairs(60);
  const auto model = pairs.model();
  const auto task = translation("[bleu]");
  const auto alone = make_batches(pairs.split, {.examples = 1}, torch::kCPU),
             together = make_batches(pairs.split, {.examples = 16}, torch::kCPU);
  const Blocks blocks = model->blocks();
  MaskEvaluator plain(*model, *task, alone, 0), shared(*model, *task, together, int64_t{1} << 30);
  const Tokenizer* const tokenizer = pairs.tokenizer.get();
  std::vector<std::vector<std::string>> different;
  for (const HeadSet& removed :
       {HeadSet(), HeadSet({HeadId{{Kind::decoder, 1}, 0}}), HeadSet({HeadId{{Kind::cross, 0}, 1}}),
        HeadSet({HeadId{{Kind::encoder, 1}, 2}, HeadId{{Kind::cross, 2}, 2}}), HeadSet(all_heads(blocks))}) {
    INFO(removed.to_json().dump());
    const Outcomes expected = plain.evaluate(removed, tokenizer);
    CHECK(texts_of(shared.evaluate(removed, tokenizer)) == texts_of(expected));
    for (size_t i = 0; i < expected.size(); ++i) CHECK(expected[i].reference == pairs.split.examples[i].reference);
    const auto pruned = model->copy();
    pruned->remove_heads(removed);
    CHECK(texts_of(MaskEvaluator(*pruned, *task, together, 0).evaluate(HeadSet(), tokenizer)) == texts_of(expected));
    different.push_back(texts_of(expected));
  }
  CHECK(different[0] != different[1]);
  CHECK(different[0] != different[2]);
  // Not asked for, nothing is written.
  for (const std::string& text : texts_of(shared.evaluate(HeadSet()))) CHECK(text.empty());
}

TEST_CASE("BLEU and chrF of outcomes are those of their texts, with an interval and a paired difference",
          "[task][translation]") {
  Outcomes good, bad;
  std::vector<BleuStatistics> rows;
  Random random(2);
  for (int64_t i = 0; i < 80; ++i) {
    Outcome outcome;
    outcome.reference = fmt::format("the {} dog sees a house number {} today", i % 7, i);
    outcome.text = i % 3 == 0 ? fmt::format("the {} dog saw a house number {}", i % 7, i) : outcome.reference;
    good.push_back(outcome);
    rows.push_back(bleu_statistics(outcome.text, outcome.reference));
    outcome.text = "a dog";
    bad.push_back(outcome);
  }
  BleuStatistics sums{};
  for (const BleuStatistics& row : rows)
    for (size_t k = 0; k < sums.size(); ++k) sums[k] += row[k];
  const auto task = translation("[bleu, chrf, loss, perplexity]");
  const auto results = task->evaluate({.outcomes = bad, .base = &good, .bootstrap_iters = 500, .seed = 3});
  const auto base = task->evaluate({.outcomes = good, .bootstrap_iters = 500, .seed = 3});
  REQUIRE(results.size() == 4);
  CHECK(base[0].estimate.value == Approx(bleu_of(sums)).epsilon(1e-12));
  REQUIRE(base[0].estimate.ci95);
  CHECK(((*base[0].estimate.ci95)[0] < bleu_of(sums) && bleu_of(sums) < (*base[0].estimate.ci95)[1]));
  REQUIRE(results[0].difference);
  CHECK(results[0].difference->delta == Approx(results[0].estimate.value - base[0].estimate.value).epsilon(1e-12));
  REQUIRE(results[0].difference->ci95);
  CHECK((*results[0].difference->ci95)[1] < 0);
  CHECK(results[1].name == "chrf");
  CHECK(results[1].difference->delta < 0);
  // Choices go by the loss, which needs no texts.
  CHECK((task->chosen_by().name == "loss" && !task->chosen_by().higher_is_better));
  CHECK(translation("[perplexity, bleu]")->chosen_by().name == "perplexity");
  CHECK((task->metrics()[0].higher_is_better && !task->metrics()[3].higher_is_better));
  CHECK(task->signatures().at("bleu") == "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp");
  CHECK(translation("[loss]")->signatures().empty());
}
