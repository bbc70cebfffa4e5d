#include "train/checkpoints.h"

#include "train_fixture.h"

namespace headprune {
namespace {

TEST_CASE("a training's state reads back from its JSON", "[train]") {
  TrainState state;
  state.global_step = 7;
  state.epoch = 1.0 / 3;
  state.max_steps = 21;
  state.best_metric = 0.1;
  state.best_step = 4;
  state.log_history.push_back({{"epoch", 0.25}, {"loss", 0.7}, {"step", 5}});
  state.cursor = {.epoch = 2, .order_seed = 0xFFFFFFFFFFFFFFFFull, .index = 3};
  state.evaluated_step = 4;
  state.without_gain = 1;
  state.loss_sum = 0.1 + 0.2;
  state.loss_steps = 2;
  state.forward = 9;
  state.backward = 8;
  state.finished = true;
  const Json json = parse_json(dump_json_file(state.to_json()), "test");
  const TrainState back = TrainState::from_json(json, "test");
  CHECK(back.to_json() == state.to_json());
  CHECK(back.cursor.order_seed == state.cursor.order_seed);
  CHECK(back.loss_sum == state.loss_sum);
  CHECK_THROWS_WITH(TrainState::from_json({{"global_step", 1}}, "place"), ContainsSubstring("place"));
}

TEST_CASE("the newest checkpoints and the best one stay, and the text files name them", "[train]") {
  TestFolder folder;
  TrainOptions options;
  options.max_steps = 6;
  options.eval_steps = options.save_steps = 1;
  options.save_total_limit = 2;
  TrainRun run(options);
  run.folder = folder.path();
  run.task.headlines = {0.4, 0.9, 0.5, 0.5, 0.5, 0.5};
  run.run();
  CHECK(checkpoint_steps(folder.path()) == std::vector<int64_t>{2, 5, 6});
  CHECK(read_file(folder.path() / "latest") == "checkpoint-000006\n");
  CHECK(read_file(folder.path() / "best") == "checkpoint-000002\n");
  REQUIRE(run.checkpoints.size() == 6);
  CHECK(run.checkpoints.back().path == folder.path() / "checkpoint-000006");
  CHECK(run.checkpoints.back().manifest_sha256.size() == 64);
}

TEST_CASE("a checkpoint holds weights, moments by name, generator, state, configuration and mask", "[train]") {
  TestFolder folder;
  TrainOptions options;
  options.max_steps = 1;
  TrainRun run(options);
  run.folder = folder.path();
  run.removed.insert({{Kind::encoder, 0}, 1});
  run.run();
  const fs::path checkpoint = folder.path() / "checkpoint-000001";
  CHECK(verify_manifest(checkpoint).empty());
  CHECK(read_file(checkpoint / "config.yaml") == "name: test\n");
  CHECK(read_file(checkpoint / "mask.json").find("encoder") != std::string::npos);
  const NamedTensors optimizer = read_tensors(checkpoint / "optimizer.safetensors");
  CHECK(optimizer.contains("exp_avg.embedding"));
  CHECK(optimizer.contains("exp_avg_sq.output_bias"));
  CHECK(optimizer.at("step.classifier").item<int64_t>() == 1);
  const torch::Tensor generator = read_tensors(checkpoint / "rng.safetensors").at("dropout");
  CHECK(generator.scalar_type() == torch::kUInt8);
  CHECK(generator.numel() == 5056);
}

TEST_CASE("what only looks like a checkpoint is left alone", "[train]") {
  TestFolder folder;
  for (const char* name : {"checkpoint-12", "checkpoint-00001x", "checkpoint-", "other-000001"})
    fs::create_directories(folder.path() / name);
  write_file(folder.path() / "checkpoint-000009", "a file");
  fs::create_directories(folder.path() / "checkpoint-1234567");
  CHECK(checkpoint_steps(folder.path()) == std::vector<int64_t>{1234567});
  CHECK(checkpoint_steps(folder.path() / "missing").empty());
}

}  // namespace
}  // namespace headprune
