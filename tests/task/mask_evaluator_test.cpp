#include "task/mask_evaluator.h"

#include "core/random.h"
#include "model/support.h"
#include "support/threads.h"
#include "support/tiny_models.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

std::vector<Outcomes> each_mask(MaskEvaluator evaluator, const std::vector<HeadSet>& masks) {
  std::vector<Outcomes> all;
  for (const HeadSet& removed : masks) all.push_back(evaluator.evaluate(removed));
  return all;
}

/// Sentences of 1 to 8 tokens with labels or targets.
std::vector<Example> sentences(const TransformerConfig& config, int64_t count) {
  Random random(3);
  std::vector<Example> examples(static_cast<size_t>(count));
  for (Example& example : examples) {
    const auto length = 1 + static_cast<int64_t>(random.below(8));
    for (int64_t t = 0; t < length; ++t)
      example.tokens.push_back(static_cast<int64_t>(random.below(static_cast<uint64_t>(config.vocabulary_size))));
    if (config.architecture == Architecture::decoder) example.targets = example.tokens;
    if (config.writes_from_source()) example.decoder_tokens = example.targets = {2, example.tokens.front(), 3};
    if (config.architecture == Architecture::encoder) example.label = static_cast<int64_t>(random.below(4));
  }
  return examples;
}

/// One head, heads of two blocks, all but one of a block, a whole block, the last block, most heads, and all of them.
std::vector<HeadSet> all_sorts_of_masks(Kind kind) {
  const auto heads = [&](const std::vector<std::pair<int64_t, int64_t>>& ids) {
    std::vector<HeadId> all;
    for (const auto& [layer, head] : ids) all.push_back({{kind, layer}, head});
    return HeadSet(all);
  };
  return {heads({}),
          heads({{0, 1}}),
          heads({{1, 0}}),
          heads({{2, 2}}),
          heads({{0, 2}, {2, 0}}),
          heads({{1, 0}, {1, 2}}),
          heads({{1, 0}, {1, 1}, {1, 2}}),
          heads({{2, 0}, {2, 1}, {2, 2}}),
          heads({{0, 0}, {0, 1}, {1, 1}, {1, 2}, {2, 0}, {2, 1}}),
          heads({{1, 0}, {1, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}}),
          heads({{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}})};
}

}  // namespace

TEST_CASE("every mask gives one outcome an example, in the order of the split, whatever the batches", "[task]") {
  TinyModel model(/*dropout=*/0.5);
  model.train();
  model.embedding.set_requires_grad(false);
  const auto task = Plugin<Task>{"classification"}.make();
  Split split;
  split.examples = six_examples();
  const HeadId left{.block = {Kind::encoder, 0}, .head = 0}, right{.block = {Kind::encoder, 0}, .head = 1};
  const std::vector<HeadSet> masks = {HeadSet(), HeadSet(std::vector{left}), HeadSet(std::vector{left, right})};

  const auto one_by_one = make_batches(split, {.examples = 1}, torch::kCPU);
  const auto by_four = make_batches(split, {.examples = 4}, torch::kCPU);
  const auto single = each_mask(MaskEvaluator(model, *task, one_by_one, 0), masks);
  const auto joint = each_mask(MaskEvaluator(model, *task, by_four, 0), masks);
  CHECK(model.is_training());
  CHECK_FALSE(model.embedding.requires_grad());
  CHECK(model.value.requires_grad());
  CHECK_FALSE(model.value.grad().defined());
  REQUIRE(single.size() == 3);

  // Truth: each example alone under its gates, written out here.
  model.eval();
  const torch::NoGradGuard no_grad;
  for (size_t mask = 0; mask < masks.size(); ++mask) {
    REQUIRE(single[mask].size() == split.examples.size());
    const PerBlock gates = {torch::tensor({mask > 0 ? 0.0 : 1.0, mask > 1 ? 0.0 : 1.0}, torch::kFloat64)};
    for (size_t i = 0; i < split.examples.size(); ++i) {
      const Batch batch = make_batch(split.examples, {static_cast<int64_t>(i)}, torch::kCPU);
      HeadProbe probe;
      probe.gates = gates;
      const torch::Tensor logits = model.forward(batch, probe).values[0];  // [labels]
      const double loss = (logits.logsumexp(0) - logits[split.examples[i].label]).item<double>();
      for (const auto& outcomes : {single[mask], joint[mask]}) {
        CHECK(outcomes[i].loss == Approx(loss).epsilon(1e-9));
        CHECK(outcomes[i].target == split.examples[i].label);
        CHECK(outcomes[i].predicted == logits.argmax().item<int64_t>());
      }
    }
  }
  CHECK(single[0][0].loss != Approx(single[1][0].loss));
  const std::vector<Batch> nothing;
  CHECK(MaskEvaluator(model, *task, nothing, 0).evaluate(masks[2]).empty());
}

namespace {

/// Evaluates masks with no memory, with enough for a few batches only and with enough for everything, and compares them
/// with whole passes under gates.
void check_sharing(TransformerModel& model, const std::string& task_name, const std::vector<HeadSet>& masks) {
  model.to(torch::kFloat64);
  const auto task = Plugin<Task>{task_name}.make();
  // 1000 sentences are enough for heavily pruned masks to be evaluated without their heads; 40 are not.
  for (const int64_t count : {1000, 40}) {
    Split split;
    split.examples = sentences(model.sizes(), count);
    const auto batches = make_batches(split, {.examples = 16}, torch::kCPU);
    const auto none = each_mask(MaskEvaluator(model, *task, batches, 0), masks);
    const auto little = each_mask(MaskEvaluator(model, *task, batches, 30000), masks);
    const auto enough = each_mask(MaskEvaluator(model, *task, batches, int64_t{1} << 30), masks);
    for (size_t m = 0; m < masks.size(); ++m) {
      INFO(task_name << ": mask " << masks[m].to_json().dump() << ", " << count << " sentences");
      const FrozenModel frozen(model);
      const torch::NoGradGuard no_grad;
      const HeadProbe probe{.gates = mask_gates(model.blocks(), masks[m], torch::kCPU)};
      double difference = 0;
      bool equal = true;
      for (const Batch& batch : batches) {
        const Outcomes plain = task->outcomes(model.forward(batch, probe).values, batch);
        for (size_t i = 0; i < plain.size(); ++i) {
          const auto example = static_cast<size_t>(batch.examples[i]);
          difference = std::max(difference, std::abs(plain[i].loss - none[m][example].loss));
          equal = equal && none[m][example].loss == little[m][example].loss &&
                  none[m][example].loss == enough[m][example].loss && none[m][example].predicted == plain[i].predicted;
        }
      }
      CHECK(difference < 1e-12);
      CHECK(equal);
    }
  }
}

}  // namespace

TEST_CASE("what masks share changes no number", "[task]") {
  struct Case {
    Kind kind;
    NormOrder norm;
    Pooling pooling;
  };
  for (const Case one :
       {Case{Kind::encoder, NormOrder::post, Pooling::cls}, Case{Kind::encoder, NormOrder::pre, Pooling::cls},
        Case{Kind::encoder, NormOrder::pre, Pooling::mean}, Case{Kind::decoder, NormOrder::pre, Pooling::mean}}) {
    TransformerConfig config = small_config(one.kind, one.norm);
    config.pooling = one.pooling;
    check_sharing(*small_model(config), one.kind == Kind::encoder ? "classification" : "language_modelling",
                  all_sorts_of_masks(one.kind));
  }
}

TEST_CASE("what masks of three attention kinds share changes no number", "[task][translation]") {
  const auto model = small_translator_model(small_translator(NormOrder::pre, /*joint=*/true));
  const Blocks blocks = model->blocks();
  std::vector<HeadSet> masks = {HeadSet(), HeadSet(all_heads(blocks))};
  for (const BlockHeads& block : blocks) {
    masks.push_back(HeadSet({HeadId{block.id, 1}}));
    masks.push_back(HeadSet({HeadId{block.id, 0}, HeadId{block.id, 1}, HeadId{block.id, 2}}));
    masks.push_back(HeadSet({HeadId{block.id, 2}, HeadId{{Kind::cross, 2}, 0}}));
  }
  for (const Kind kind : {Kind::encoder, Kind::decoder, Kind::cross}) {
    HeadSet whole;
    for (const HeadId& head : all_heads(blocks))
      if (head.block.kind == kind) whole.insert(head);
    masks.push_back(whole);
  }
  check_sharing(*model, "language_modelling", masks);  // the loss of translation, without its texts
}

TEST_CASE("outcomes are the same bytes however many threads share the batches", "[task]") {
  for (const Kind kind : {Kind::encoder, Kind::decoder, Kind::cross}) {
    const bool writes = kind == Kind::cross;
    const std::shared_ptr<TransformerModel> model =
        writes ? std::shared_ptr<TransformerModel>(small_translator_model(small_translator(NormOrder::pre, true)))
               : small_model(small_config(kind));
    const auto task = Plugin<Task>{kind == Kind::encoder ? "classification" : "language_modelling"}.make();
    Split split;
    split.examples = sentences(model->sizes(), 300);
    const auto batches = make_batches(split, {.examples = 16}, torch::kCPU);
    std::vector<std::vector<Outcomes>> found;
    for (const int threads : {1, 2, 4}) {
      const WithThreads with(threads);
      found.push_back(each_mask(MaskEvaluator(*model, *task, batches, 100000), all_sorts_of_masks(kind)));
    }
    for (const auto& other : found)
      for (size_t m = 0; m < other.size(); ++m)
        for (size_t i = 0; i < split.examples.size(); ++i) {
          REQUIRE(other[m][i].loss == found.front()[m][i].loss);
          REQUIRE(other[m][i].predicted == found.front()[m][i].predicted);
        }
  }
}
