// Training of the real model families, in float32 with dropout everywhere.
#include "config/registry.h"
#include "model/attention.h"
#include "model/transformer.h"
#include "train_fixture.h"

namespace headprune {
namespace {

struct Killed {};

constexpr int64_t kWidth = 4;  // Dk and Dv

/// What acts inside attention, and which keys are seen.
struct Variant {
  Positions positions = Positions::learned;
  std::vector<PatternOptions> patterns = {};
};

std::shared_ptr<Transformer> tiny_transformer(Kind kind, const Variant& variant = {}) {
  TransformerConfig config;
  config.architecture = kind == Kind::encoder ? Architecture::encoder : Architecture::decoder;
  config.d_model = 8;
  config.layers = 2;
  config.heads = 2;
  config.d_key = config.d_value = kWidth;
  config.d_ff = 16;
  config.vocabulary_size = 8;
  config.max_length = 8;
  config.outputs = kind == Kind::encoder ? 3 : 0;
  config.positions = variant.positions;
  config.patterns = variant.patterns;
  auto model = std::make_shared<Transformer>(config);
  initialise(*model, 1);
  return model;
}

Dataset dataset_of(Kind kind) {
  std::vector<Example> examples = six_examples();
  if (kind == Kind::decoder)
    for (Example& example : examples) {
      example.targets.assign(example.tokens.begin() + 1, example.tokens.end());
      example.targets.push_back(kNoTarget);
      example.label = -1;
    }
  return tiny_dataset(examples);
}

struct FamilyRun {
  explicit FamilyRun(Kind family, const Variant& variant = {})
      : kind(family), model(tiny_transformer(family, variant)), dataset(dataset_of(family)) {
    set_log_level(LogLevel::off);
  }

  TrainResult run(const fs::path& folder, int64_t killed_at) {
    TrainOptions options;
    options.per_device_train_batch_size = 2;
    options.gradient_accumulation_steps = 2;
    options.max_steps = 9;
    options.learning_rate = 0.01;
    options.weight_decay = 0;
    options.save_steps = 2;
    options.logging_steps = 1;
    const Plugin<Task> task(kind == Kind::encoder ? "classification" : "language_modelling");
    return train({.model = *model,
                  .task = *task.make(),
                  .dataset = dataset,
                  .options = options,
                  .removed = HeadSet({{{kind, 0}, 1}}),
                  .folder = folder,
                  .seed = 3,
                  .sink = [&](const TrainPoint& point) {
                    if (point.step == killed_at) throw Killed();
                  }});
  }

  Kind kind;
  std::shared_ptr<Transformer> model;
  Dataset dataset;
};

TEST_CASE("transformers trained with dropout under a mask continue bit for bit", "[train]") {
  const Variant variants[] = {{},
                              {Positions::rotary, {LocalOptions{.window = 2}}},
                              {Positions::alibi, {StridedOptions{.stride = 2}}},
                              {Positions::t5, {FixedOptions{.stride = 2, .summary = 1}}},
                              {Positions::shaw, {}},
                              {Positions::transformer_xl, {LocalOptions{.window = 1}, FullOptions()}}};
  for (const Kind kind : {Kind::encoder, Kind::decoder})
    for (const Variant& variant : variants) {
      INFO(to_string(kind) << ", positions " << enum_name(variant.positions));
      TestFolder straight_folder, folder;
      FamilyRun straight(kind, variant), killed(kind, variant), last(kind, variant);
      straight.run(straight_folder.path(), -1);
      CHECK_THROWS_AS(killed.run(folder.path(), 6), Killed);
      const TrainResult result = last.run(folder.path(), -1);
      CHECK(result.steps_here < 9);
      CHECK(same_weights(*straight.model, *last.model));
      for (const char* file : {"optimizer.safetensors", "rng.safetensors", "state.json"})
        CHECK(read_file(straight_folder.path() / "checkpoint-000009" / file) ==
              read_file(folder.path() / "checkpoint-000009" / file));
    }
}

TEST_CASE("in a transformer the removed head's projections stay as they were, and the rest learns", "[train]") {
  for (const Kind kind : {Kind::encoder, Kind::decoder}) {
    INFO(to_string(kind));
    FamilyRun run(kind);
    const auto before = tiny_transformer(kind);
    run.run({}, -1);
    Attention &after = run.model->attention(0), &initial = before->attention(0);
    const auto unchanged = [](const torch::Tensor& a, const torch::Tensor& b, int64_t axis, int64_t head) {
      return torch::equal(a.narrow(axis, head * kWidth, kWidth), b.narrow(axis, head * kWidth, kWidth));
    };
    for (const int64_t head : {0, 1}) {
      const bool removed = head == 1;
      CHECK(unchanged(after.query().weight, initial.query().weight, 0, head) == removed);
      CHECK(unchanged(after.key().weight, initial.key().weight, 0, head) == removed);
      CHECK(unchanged(after.value().weight, initial.value().weight, 0, head) == removed);
      CHECK(unchanged(after.value().bias, initial.value().bias, 0, head) == removed);
      CHECK(unchanged(after.output().weight, initial.output().weight, 1, head) == removed);
    }
  }
}

}  // namespace
}  // namespace headprune
