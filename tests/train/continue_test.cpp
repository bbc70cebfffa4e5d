// Continuing a training: equal to one that was never interrupted, bit for bit.
#include <sys/wait.h>

#include <csignal>
#include <fstream>

#include "core/stop.h"
#include "train_fixture.h"

namespace headprune {
namespace {

/// Stands for the kill: thrown from inside a training, so that nothing is written after it.
struct Killed {};

/// Dropout, accumulation with a smaller group at each epoch's end, evaluations and checkpoints out of step.
TrainOptions busy_options() {
  TrainOptions options;
  options.per_device_train_batch_size = 2;
  options.gradient_accumulation_steps = 2;
  options.num_train_epochs = 6;  // 12 steps
  options.learning_rate = 0.03;
  options.warmup_ratio = 0.2;
  options.eval_steps = 4;
  options.save_steps = 3;
  options.logging_steps = 2;
  options.save_total_limit = 3;
  options.early_stopping_patience = 3;
  return options;
}

constexpr double kDropout = 0.4;

/// Rows that count: those of an earlier attempt at or past the first step of a later one are superseded.
std::vector<std::string> final_rows(const std::vector<std::vector<TrainPoint>>& attempts) {
  std::vector<std::string> rows;
  for (size_t i = 0; i < attempts.size(); ++i)
    for (const TrainPoint& point : attempts[i]) {
      bool superseded = false;
      for (size_t later = i + 1; later < attempts.size(); ++later)
        superseded |= !attempts[later].empty() && point.step >= attempts[later].front().step;
      if (!superseded)
        rows.push_back(fmt::format("{} {} {} {} {}", point.step, point.epoch, point.split, point.name, point.value));
    }
  return rows;
}

void check_equal_folders(const fs::path& a, const fs::path& b, const std::string& checkpoint) {
  for (const char* file : {"model.safetensors", "optimizer.safetensors", "rng.safetensors", "state.json"}) {
    INFO(file);
    CHECK(read_file(a / checkpoint / file) == read_file(b / checkpoint / file));
  }
}

/// Trains in `folder` until row number `rows` arrives, then dies.
std::vector<TrainPoint> killed_at_row(const fs::path& folder, size_t rows, const TrainOptions& options) {
  TrainRun run(options, kDropout);
  run.folder = folder;
  run.on_point = [&](const TrainPoint&) {
    if (run.points.size() == rows) throw Killed();
  };
  try {
    run.run();
  } catch (const Killed&) {
  }
  return run.points;
}

TEST_CASE("killed anywhere and continued equals uninterrupted, bit for bit", "[train]") {
  TestFolder straight_folder;
  TrainRun straight(busy_options(), kDropout);
  straight.folder = straight_folder.path();
  const TrainResult expected = straight.run();
  REQUIRE(expected.steps == 12);
  REQUIRE(straight.points.size() == 21);

  // 7, 14 and 21 are evaluations: after those, and before their checkpoint.
  for (const size_t rows : {1, 5, 7, 12, 14, 19, 21}) {
    INFO("killed at row " << rows);
    TestFolder folder;
    std::vector<std::vector<TrainPoint>> attempts = {killed_at_row(folder.path(), rows, busy_options())};
    attempts.push_back(killed_at_row(folder.path(), 3, busy_options()));  // and once more
    TrainRun last(busy_options(), kDropout);
    last.folder = folder.path();
    const TrainResult result = last.run();
    attempts.push_back(last.points);
    CHECK(same_weights(straight.model, last.model));
    CHECK(dump_json(result.log_history) == dump_json(expected.log_history));
    CHECK(result.best_metric == expected.best_metric);
    CHECK(result.forward == expected.forward);
    CHECK(result.backward == expected.backward);
    check_equal_folders(straight_folder.path(), folder.path(), "checkpoint-000012");
    CHECK(final_rows(attempts) == final_rows({straight.points}));
  }
}

TEST_CASE("a training that was finished is recognised and takes no step", "[train]") {
  TestFolder folder;
  TrainRun first(busy_options(), kDropout), second(busy_options(), kDropout);
  first.folder = second.folder = folder.path();
  first.run();
  const TrainResult result = second.run();
  CHECK(result.steps == 12);
  CHECK(result.steps_here == 0);
  CHECK(second.points.empty());
  CHECK(second.checkpoints.empty());
  CHECK(same_weights(first.model, second.model));
}

TEST_CASE("early stopping and the best checkpoint survive an interrupt", "[train]") {
  TrainOptions options = busy_options();
  options.eval_steps = 1;
  options.early_stopping_patience = 3;
  options.load_best_model_at_end = true;
  const std::vector<double> headlines = {0.1, 0.5, 0.4, 0.45, 0.5, 0.9};
  TestFolder straight_folder, folder;
  TrainRun straight(options, kDropout), killed(options, kDropout), last(options, kDropout);
  straight.task.headlines = killed.task.headlines = headlines;
  straight.folder = straight_folder.path();
  killed.folder = last.folder = folder.path();
  CHECK(straight.run().best_step == 2);

  killed.on_point = [&](const TrainPoint& point) {
    if (point.step == 4 && point.split == "train") throw Killed();  // the checkpoint of step 3 is the newest
  };
  CHECK_THROWS_AS(killed.run(), Killed);
  last.task.headlines = {0.45, 0.5};  // evaluations of steps 4 and 5
  const TrainResult result = last.run();
  CHECK(result.stopped_early);
  CHECK(result.steps == 5);
  CHECK(result.steps_here == 2);
  CHECK(result.best_step == 2);
  CHECK(same_weights(straight.model, last.model));
}

TEST_CASE("a corrupted newest checkpoint is named and the one before is continued", "[train]") {
  TestFolder straight_folder, folder;
  TrainRun straight(busy_options(), kDropout), last(busy_options(), kDropout);
  straight.folder = straight_folder.path();
  straight.run();
  killed_at_row(folder.path(), 24, busy_options());
  const std::vector<int64_t> steps = checkpoint_steps(folder.path());
  REQUIRE(steps.size() >= 2);
  const fs::path newest = folder.path() / checkpoint_name(steps.back());
  {
    std::fstream file(newest / "model.safetensors", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('\x55');
  }
  fs::create_directories(folder.path() / "checkpoint-000099.tmp-1234");

  last.folder = folder.path();
  const TrainResult result = last.run();
  REQUIRE(last.warnings.size() == 1);
  CHECK_THAT(last.warnings[0], ContainsSubstring(newest.filename().string()));
  CHECK_THAT(last.warnings[0], ContainsSubstring("model.safetensors"));
  CHECK(result.steps_here == 12 - steps[steps.size() - 2]);
  CHECK(same_weights(straight.model, last.model));
  CHECK_FALSE(fs::exists(folder.path() / "checkpoint-000099.tmp-1234"));
}

TEST_CASE("checkpoints of another training are refused", "[train]") {
  TestFolder folder;
  TrainRun first(busy_options()), longer(busy_options()), masked(busy_options());
  first.folder = longer.folder = masked.folder = folder.path();
  first.run();
  longer.options.max_steps = 99;
  masked.removed.insert({{Kind::encoder, 0}, 0});
  CHECK_THROWS_WITH(longer.run(), ContainsSubstring("another training"));
  CHECK_THROWS_WITH(masked.run(), ContainsSubstring("another training"));
}

/// In a child process, since a signal stays received: raises SIGINT at row `rows` and gives the exit code.
int interrupted_child(const fs::path& folder, size_t rows) {
  const pid_t child = fork();
  if (child == 0) {
    install_signal_handlers({"INT"});
    TrainRun run(busy_options(), kDropout);
    run.folder = folder;
    run.on_point = [&](const TrainPoint&) {
      if (run.points.size() == rows) raise(SIGINT);
    };
    int code = 1;
    try {
      run.run();
    } catch (const Interrupted& stopped) {
      code = static_cast<int>(stopped.code());
    } catch (...) {
    }
    _exit(code);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("SIGINT writes a checkpoint of the present step, and continuing equals uninterrupted", "[train]") {
  at::set_num_threads(1);  // threads do not survive a fork
  TestFolder straight_folder;
  TrainRun straight(busy_options(), kDropout);
  straight.folder = straight_folder.path();
  straight.run();
  for (const size_t rows : {1, 4, 8, 14}) {
    INFO("interrupted at row " << rows);
    TestFolder folder;
    CHECK(interrupted_child(folder.path(), rows) == 130);
    REQUIRE_FALSE(checkpoint_steps(folder.path()).empty());
    CHECK(checkpoint_steps(folder.path()).back() == straight.points[rows - 1].step);
    TrainRun last(busy_options(), kDropout);
    last.folder = folder.path();
    last.run();
    CHECK(same_weights(straight.model, last.model));
    check_equal_folders(straight_folder.path(), folder.path(), "checkpoint-000012");
  }
}

}  // namespace
}  // namespace headprune
