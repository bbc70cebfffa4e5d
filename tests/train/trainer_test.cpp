#include "train/trainer.h"

#include <cmath>

#include "train_fixture.h"

namespace headprune {
namespace {

TrainOptions steps(int64_t count) {
  TrainOptions options;
  options.max_steps = count;
  options.learning_rate = 0.05;
  options.logging_steps = 1;
  return options;
}

/// The sentence of the Error(run_failed) that a training ends with.
std::string failure(TrainRun& run) {
  try {
    run.run();
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::run_failed);
    return error.what();
  }
  return "trained";
}

// Goldens: the same model in plain tensor algebra, with torch.optim.AdamW, torch.nn.utils.clip_grad_norm_ and
// torch.optim.lr_scheduler.LambdaLR of PyTorch 2.13 in Python, float64; smoothing as 0.9 log p[label] + 0.1 mean log p.
TEST_CASE("ten steps equal an independent implementation in Python", "[train]") {
  TrainOptions options = steps(10);
  options.per_device_train_batch_size = 6;
  options.lr_scheduler_type = LrScheduler::cosine;
  options.warmup_steps = 2;
  options.weight_decay = 0.1;
  options.max_grad_norm = 0.25;
  options.label_smoothing_factor = 0.1;
  TrainRun run(options);
  const TrainResult result = run.run();
  CHECK(result.steps == 10);
  CHECK(result.epoch == 10);
  CHECK(result.backward == 10);
  const std::vector<double> losses = {1.0887853149803224, 1.0887853149803224, 1.0619490045396789, 1.018268019427824,
                                      0.977163795398294,  0.9319720493494862, 0.8881722156026742, 0.8529195816071621,
                                      0.829880823575342,  0.818592723701514};
  const std::vector<double> norms = {0.1967019533722195,  0.1967019533722195,  0.17532791863198444, 0.17772150752961421,
                                     0.21529844570711326, 0.24749531473956962, 0.2664338130700982,  0.2752250852148799,
                                     0.2784418088195195,  0.2793611050728709};
  const std::vector<double> rates = {0.0,
                                     0.025,
                                     0.05,
                                     0.04809698831278217,
                                     0.04267766952966369,
                                     0.03456708580912725,
                                     0.025,
                                     0.015432914190872758,
                                     0.0073223304703363135,
                                     0.0019030116872178317};
  for (const auto& [name, expected] : {std::pair{"loss", losses}, {"grad_norm", norms}, {"learning_rate", rates}}) {
    const std::vector<double> found = run.values("train", name);
    REQUIRE(found.size() == 10);
    for (size_t i = 0; i < 10; ++i) CHECK(found[i] == Approx(expected[i]).epsilon(1e-10).margin(1e-15));
  }
  const double bias[] = {0.14958096217332462, 0.3779569963080717, 0.4769219746913658};
  for (int64_t i = 0; i < 3; ++i) CHECK(run.model.classifier_bias[i].item<double>() == Approx(bias[i]).epsilon(1e-9));
  CHECK_FALSE(run.model.is_training());
}

TEST_CASE("accumulated batches give the step of one large batch, also when they differ in size", "[train]") {
  TrainOptions large = steps(5), equal = steps(5), uneven = steps(5);
  large.per_device_train_batch_size = 6;
  equal.per_device_train_batch_size = 2;
  equal.gradient_accumulation_steps = 3;
  uneven.per_device_train_batch_size = 4;
  uneven.gradient_accumulation_steps = 2;
  TrainRun reference(large);
  reference.run();
  for (const TrainOptions& options : {equal, uneven}) {
    TrainRun run(options);
    const TrainResult result = run.run();
    CHECK(result.epoch == 5);
    for (const auto& item : run.model.named_parameters())
      CHECK(torch::allclose(item.value(), reference.model.named_parameters()[item.key()], 0, 1e-9));
    const std::vector<double> losses = run.values("train", "loss"), expected = reference.values("train", "loss");
    for (size_t i = 0; i < 5; ++i) CHECK(losses[i] == Approx(expected[i]).epsilon(1e-9));
  }
}

TEST_CASE("a logged loss is the mean over the steps since the last one", "[train]") {
  TrainOptions every = steps(7), third = steps(7);
  third.logging_steps = 3;
  TrainRun fine(every), coarse(third);
  fine.run();
  coarse.run();
  const std::vector<double> all = fine.values("train", "loss"), means = coarse.values("train", "loss");
  REQUIRE(means.size() == 3);
  CHECK(means[0] == Approx((all[0] + all[1] + all[2]) / 3).epsilon(1e-12));
  CHECK(means[1] == Approx((all[3] + all[4] + all[5]) / 3).epsilon(1e-12));
  CHECK(means[2] == Approx(all[6]).epsilon(1e-12));
}

TEST_CASE("same seed, same bytes, with dropout", "[train]") {
  TrainRun first(steps(8), 0.3), second(steps(8), 0.3), without(steps(8), 0);
  first.run();
  torch::rand({17});  // whatever happens to the default generator in between
  second.run();
  without.run();
  CHECK(same_weights(first.model, second.model));
  CHECK_FALSE(same_weights(first.model, without.model));
}

TEST_CASE("evaluation comes after every epoch, or every eval_steps, and at the end", "[train]") {
  TrainOptions options = steps(5);
  options.per_device_train_batch_size = 3;  // 2 steps an epoch
  const auto steps_of = [](const TrainRun& run) {
    std::vector<int64_t> found;
    for (const TrainPoint& point : run.points)
      if (point.split == "select" && point.name == "loss") found.push_back(point.step);
    return found;
  };
  TrainRun epochs(options);
  const TrainResult result = epochs.run();
  CHECK(steps_of(epochs) == std::vector<int64_t>{2, 4, 5});
  CHECK(result.forward == 5 + 3 * 2);
  CHECK(result.log_history.size() == 5 + 3);
  CHECK(result.log_history.back()["step"] == 5);
  CHECK(result.log_history.back()["epoch"] == 2.5);
  CHECK(result.log_history.back()["eval_loss"] == epochs.points.back().value);

  options.eval_steps = 3;
  TrainRun steps_run(options), none(options);
  steps_run.run();
  CHECK(steps_of(steps_run) == std::vector<int64_t>{3, 5});
  none.evaluate = false;
  CHECK_FALSE(none.run().best_metric);
  CHECK(steps_of(none).empty());
}

TEST_CASE("training stops when the headline metric has not improved for the patience given", "[train]") {
  TrainOptions options = steps(20);
  options.eval_steps = 2;
  options.early_stopping_patience = 2;
  TrainRun run(options);
  run.task.headlines = {0.5, std::nan(""), 0.6, 0.6, 0.55, 0.9};  // an equal value is not better
  const TrainResult result = run.run();
  CHECK(result.stopped_early);
  CHECK(result.steps == 10);
  CHECK(result.best_metric == 0.6);
  CHECK(result.best_step == 6);
  CHECK(std::isnan(run.values("select", "accuracy")[1]));  // passed on as it is
}

TEST_CASE("load_best_model_at_end gives the weights of the best evaluation, from memory and from a checkpoint",
          "[train]") {
  TrainOptions options = steps(10);
  options.lr_scheduler_type = LrScheduler::constant;
  options.eval_steps = 2;
  options.save_total_limit = 1;
  options.load_best_model_at_end = true;
  TestFolder folder;
  TrainRun in_memory(options), on_disk(options), to_the_end(options);
  on_disk.folder = folder.path();
  for (TrainRun* run : {&in_memory, &on_disk, &to_the_end}) run->task.headlines = {0.5, 0.7, 0.6, 0.65, 0.6};
  in_memory.run();
  CHECK(on_disk.run().best_step == 4);
  CHECK(same_weights(in_memory.model, on_disk.model));
  CHECK(read_file(folder.path() / "best") == "checkpoint-000004\n");

  options.max_steps = 4;
  TrainRun four(options);
  four.task.headlines = {0.5, 0.7};
  four.run();
  CHECK(same_weights(four.model, on_disk.model));
  to_the_end.options.load_best_model_at_end = false;
  to_the_end.run();
  CHECK_FALSE(same_weights(to_the_end.model, on_disk.model));
}

TEST_CASE("a non-finite loss stops before the step and names the examples", "[train]") {
  TestFolder folder;
  TrainRun run(steps(10));
  run.folder = folder.path();
  {
    torch::NoGradGuard no_gradients;
    run.model.embedding[7][1].fill_(std::nan(""));  // token 7 stands in examples 1, 3 and 5
  }
  TinyModel before;
  load_state(before, state(run.model), "copy");
  const std::string sentence = failure(run);
  CHECK_THAT(sentence, ContainsSubstring("before step 1:"));
  for (const char* index : {"1", "3", "5"}) CHECK_THAT(sentence, ContainsSubstring(index));
  for (const char* index : {"0", "2", "4"}) {
    const std::string listed = sentence.substr(sentence.find("examples"), 17);
    CHECK(listed.find(index) == std::string::npos);
  }
  REQUIRE(run.points.size() == 1);
  CHECK(run.points[0].name == "loss");
  CHECK(run.points[0].step == 1);
  CHECK(std::isnan(run.points[0].value));
  CHECK(torch::equal(before.classifier, run.model.classifier));
  CHECK(checkpoint_steps(folder.path()).empty());
}

TEST_CASE("a non-finite gradient norm stops before the step", "[train]") {
  TrainRun run(steps(10));
  run.task.infinite_gradient = true;
  const std::string sentence = failure(run);
  CHECK_THAT(sentence, ContainsSubstring("before step 1: the gradient norm is nan"));
  REQUIRE(run.points.size() == 1);
  CHECK(run.points[0].name == "grad_norm");
  CHECK(torch::equal(run.model.classifier, TinyModel().classifier));
}

TEST_CASE("weights that a step made non-finite are never kept", "[train]") {
  TestFolder folder;
  TrainOptions options = steps(3);
  options.save_steps = 1;
  options.learning_rate = 1e308;
  options.weight_decay = 1e300;  // 1 - learning_rate x decay is -inf
  TrainRun run(options);
  run.folder = folder.path();
  run.evaluate = false;
  CHECK_THAT(failure(run), ContainsSubstring("non-finite"));
  CHECK(checkpoint_steps(folder.path()).empty());
}

TEST_CASE("a removed head gets no gradient and stays as it was; the others learn", "[train]") {
  TrainOptions options = steps(6);
  options.weight_decay = 0;
  TrainRun run(options);
  run.removed.insert({{Kind::encoder, 0}, 1});
  run.run();
  const TinyModel before;
  using torch::indexing::Slice;
  // Head 1 owns rows 2 and 3 of the output projection and columns 2 and 3 of the value projection.
  CHECK(torch::equal(run.model.output.index({Slice(2, 4)}), before.output.index({Slice(2, 4)})));
  CHECK(torch::equal(run.model.value.index({Slice(), Slice(2, 4)}), before.value.index({Slice(), Slice(2, 4)})));
  CHECK_FALSE(torch::equal(run.model.output.index({Slice(0, 2)}), before.output.index({Slice(0, 2)})));
  CHECK_FALSE(torch::equal(run.model.value.index({Slice(), Slice(0, 2)}), before.value.index({Slice(), Slice(0, 2)})));
}

TEST_CASE("a training whose optimizer goes on is the continuation of the one before", "[train]") {
  TestFolder folder;
  TrainOptions options = steps(4);
  options.per_device_train_batch_size = 6;  // all examples: their order plays no part
  options.lr_scheduler_type = LrScheduler::constant;
  TrainRun first(options), whole(options);
  first.evaluate = whole.evaluate = false;
  first.folder = folder / "first";
  first.run();
  whole.options.max_steps = 8;
  whole.run();
  const auto second = [&](const fs::path& from) {
    TrainRun run(options);
    run.evaluate = false;
    load_state(run.model, state(first.model), "the first training");
    run.optimizer_from = from;
    run.run();
    double most = 0;
    for (const auto& [name, tensor] : state(run.model))
      most = std::max(most, (tensor - state(whole.model).at(name)).abs().max().item<double>());
    return most;
  };
  CHECK(second(folder / "first") < 1e-12);
  CHECK(second({}) > 1e-4);  // fresh moments go another way
  TrainRun lost(options);
  lost.optimizer_from = folder / "nowhere";
  CHECK_THAT(failure(lost), ContainsSubstring("holds no checkpoint"));
}

TEST_CASE("a training without examples is refused", "[train]") {
  TrainRun run(steps(1), 0, {});
  CHECK_THAT(failure(run), ContainsSubstring("no examples"));
}

TEST_CASE("checkpoints take weights and two moments, for those kept, the best and the one being written", "[train]") {
  TrainOptions options;
  options.save_total_limit = 3;
  CHECK(checkpoint_bytes(1000, options) == 1000 * 4 * 3 * 5);
}

}  // namespace
}  // namespace headprune
