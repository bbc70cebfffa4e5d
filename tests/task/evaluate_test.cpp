#include "support/tiny_models.h"
#include "task/task.h"

using namespace headprune;

TEST_CASE("every mask gives one outcome an example, in the order of the split, whatever the batches", "[task]") {
  TinyModel model(/*dropout=*/0.5);
  model.train();
  model.embedding.set_requires_grad(false);
  const auto task = Plugin<Task>{"classification"}.make();
  Split split;
  split.examples = six_examples();
  const HeadId left{.block = {Kind::encoder, 0}, .head = 0}, right{.block = {Kind::encoder, 0}, .head = 1};
  const std::vector<HeadSet> masks = {HeadSet(), HeadSet(std::vector{left}), HeadSet(std::vector{left, right})};

  const auto single = evaluate_masks(model, *task, make_batches(split, {.examples = 1}, torch::kCPU), masks);
  const auto joint = evaluate_masks(model, *task, make_batches(split, {.examples = 4}, torch::kCPU), masks);
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
  CHECK(evaluate_masks(model, *task, {}, masks)[2].empty());
}
