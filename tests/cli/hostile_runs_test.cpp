// What happens to a run folder under a running process, runs that start together, and what the system refuses, through
// the real binary.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>

#include "cli/program.h"
#include "core/text.h"
#include "support/catch.h"

namespace headprune {

namespace {

/// Trains for minutes where nothing stops it, with a checkpoint every few steps.
constexpr const char* kLong = R"yaml(name: long
data: {type: synthetic, examples: {train: 400, dev: 40, test: 40}}
task: {type: classification}
model: {type: encoder, d_model: 16, layers: 2, heads: 2}
train: {max_steps: 200000, per_device_train_batch_size: 16, save_steps: 20, logging_steps: 20, eval_steps: 200000}
report: {bootstrap_iters: 100}
runtime: {threads: 1}
)yaml";

template <class Condition>
bool wait_for(const Condition& condition) {
  for (int i = 0; i < 60000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return condition();
}

/// A long run whose first checkpoint stands; killed at the end of the test where it still goes on.
struct Running {
  TestFolder folder;
  Program program;
  Running() : program(start()) {
    REQUIRE(wait_for([&] { return fs::exists(folder / "runs/long/train/seed-1/latest") || !program.running(); }));
    REQUIRE(program.running());
  }
  ~Running() {
    if (!program.running()) return;
    program.signal(SIGKILL);
    program.wait();
  }
  Program start() const {
    folder.write("long.yaml", kLong);
    return Program({"run", "long.yaml"}, folder.path());
  }
  void check_stopped(const std::string& sentence) {
    CHECK(wait_for([&] { return !program.running(); }));
    if (program.running()) return;
    const Finished finished = program.wait();
    INFO(finished.err);
    CHECK(finished.code == 74);
    CHECK_THAT(finished.err, ContainsSubstring(sentence));
    CHECK(finished.out.find("Results") == std::string::npos);
  }
};

}  // namespace

TEST_CASE("a journal that vanishes under a run ends it with 74", "[cli][hostile]") {
  Running run;
  fs::remove(run.folder / "runs/long/journal.jsonl");
  run.check_stopped("journal.jsonl is not the file any more that this process writes");
  CHECK_FALSE(fs::exists(run.folder / "runs/long/journal.jsonl"));
}

TEST_CASE("a journal that is replaced under a run ends it with 74, and is left alone", "[cli][hostile]") {
  Running run;
  fs::copy(run.folder / "runs/long/journal.jsonl", run.folder / "other");
  const std::string other = read_file(run.folder / "other");
  fs::rename(run.folder / "other", run.folder / "runs/long/journal.jsonl");
  run.check_stopped("is not the file any more");
  CHECK(read_file(run.folder / "runs/long/journal.jsonl") == other);
}

TEST_CASE("a run folder that is moved or deleted under a run does not come back half", "[cli][hostile]") {
  for (const bool deleted : {false, true}) {
    Running run;
    fs::rename(run.folder / "runs/long", run.folder / "moved");
    if (deleted) fs::remove_all(run.folder / "moved");
    run.check_stopped("runs/long");
    CHECK_FALSE(fs::exists(run.folder / "runs/long"));
    if (deleted) continue;
    // What it had recorded is whole where it is now.
    const Finished info = shell_in(run.folder.path(), "$T $H runs info moved --verify");
    INFO(info.out << info.err);
    CHECK(info.code == 0);
  }
}

TEST_CASE("a lock that is deleted admits no second writer", "[cli][hostile]") {
  Running run;
  fs::remove(run.folder / "runs/long/.lock");
  const Finished second = shell_in(run.folder.path(), "$T $H run long.yaml");
  CHECK(second.code == 2);
  CHECK_THAT(second.err, ContainsSubstring("is in use by"));
  CHECK(run.program.running());
}

TEST_CASE("different experiments that start together each get a folder", "[cli][hostile]") {
  const TestFolder folder;
  folder.write("tiny.yaml", kTinyExperiment);
  for (int round = 0; round < 6; ++round) {
    std::vector<std::unique_ptr<Program>> programs;
    for (int i = 0; i < 4; ++i)
      programs.push_back(std::make_unique<Program>(
          std::vector<std::string>{"run", "tiny.yaml", fmt::format("train.max_steps={}", 1 + i)}, folder.path()));
    for (const auto& program : programs) {
      const Finished finished = program->wait();
      INFO(finished.err);
      CHECK(finished.code == 0);
    }
    for (const char* name : {"tiny", "tiny-2", "tiny-3", "tiny-4"})
      CHECK(shell_in(folder.path(), std::string("$T $H runs info --verify runs/") + name).code == 0);
    CHECK_FALSE(fs::exists(folder / "runs/tiny-5"));
    fs::remove_all(folder / "runs");
  }
}

TEST_CASE("an export that is stopped leaves nothing, or the next one clears it", "[cli][hostile]") {
  const TestFolder folder;
  const std::string run = finished_run().string();
  const std::string csv = "$T $H export csv " + run + " --to made";
  // A process that was killed; and one that lives, whose folder is its own.
  folder.write("made.tmp-999999999/x", "left");
  folder.write("made.tmp-1/x", "of another");
  folder.write("made.tmp-old/x", "mine");
  CHECK(shell_in(folder.path(), csv).code == 0);
  CHECK_FALSE(fs::exists(folder / "made.tmp-999999999"));
  CHECK(fs::exists(folder / "made.tmp-1/x"));
  CHECK(fs::exists(folder / "made.tmp-old/x"));
  fs::remove_all(folder / "made");
  fs::remove_all(folder / "made.tmp-1");
  fs::remove_all(folder / "made.tmp-old");

  std::string point;
  const std::string curve = read_file(finished_run() / "curve.csv");
  for (const std::string_view line : split(curve, '\n'))
    if (line.find(",one_shot,one_shot,") != std::string_view::npos) point = line.substr(line.rfind(',') + 1);
  for (const int number : {SIGTERM, SIGINT}) {
    for (int wait = 0; wait < 8; ++wait) {
      Program program({"export", "hf", run, "--point", point, "--to", "made"}, folder.path());
      if (wait > 0)
        wait_for([&] { return fs::exists(folder / fmt::format("made.tmp-{}", program.pid())) || !program.running(); });
      std::this_thread::sleep_for(std::chrono::milliseconds(20 + 5 * wait));  // not before it is the program
      program.signal(number);
      const Finished finished = program.wait();
      INFO(finished.err);
      CHECK((finished.code == 0 || finished.code == 128 + number));
      CHECK(fs::exists(folder / "made") == (finished.code == 0));
      fs::remove_all(folder / "made");
      for (const std::string& name : folder.names()) CHECK(name.find(".tmp-") == std::string::npos);
    }
  }
}

TEST_CASE("empty values, a deleted working directory and refused threads are a sentence", "[cli][hostile]") {
  const TestFolder folder;
  folder.write("tiny.yaml", kTinyExperiment);
  fs::permissions(folder.path(), fs::perms::all);
  const std::string run = finished_run().string();
  for (const std::string& command : std::vector<std::string>{
           "run tiny.yaml --out ''", "run ''", "report " + run + " --to ''", "report ''",
           "export csv " + run + " --to ''", "check " + run + " --out ''", "check " + run + " --baseline ''",
           "baseline update " + run + " --reason r --baseline ''", "runs ls ''", "inspect ''",
           "run tiny.yaml --from ''"}) {
    const Finished refused = shell_in(folder.path(), "$T $H " + command);
    INFO(command << ": " << refused.err);
    CHECK(refused.code == 2);
    CHECK_FALSE(fs::exists(folder / "runs"));
  }
  for (const std::string& command :
       std::vector<std::string>{"runs ls .", "validate " + (folder / "tiny.yaml").string(), "--help",
                                "report " + run + " --to " + (folder / "views").string()}) {
    const Finished gone = shell_in(folder.path(), "mkdir gone && cd gone && rmdir ../gone && $T $H " + command);
    INFO(command << ": " << gone.err);
    CHECK(gone.code == 2);
    CHECK_THAT(gone.err, ContainsSubstring("the working directory is not there any more"));
  }
  const Finished many = shell_in(folder.path(), "$T $H run tiny.yaml runtime.threads=1000000");
  CHECK(many.code == 2);
  CHECK_THAT(many.err, ContainsSubstring("runtime.threads is 1000000"));
  CHECK_FALSE(fs::exists(folder / "runs"));

  // The superuser has no such limit, and another user shares it with whoever else runs as that one.
  const std::string become = "setpriv --reuid=64321 --regid=64321 --clear-groups ";
  if (::geteuid() != 0 || shell_in(folder.path(), become + "test -x $H").code != 0) {
    WARN("skipped: cannot become another user here");
    return;
  }
  const Finished few =
      shell_in(folder.path(), "$T " + become + "bash -c 'ulimit -u 8; $H run tiny.yaml runtime.threads=64'");
  INFO(few.err);
  CHECK(few.code == 2);
  CHECK_THAT(few.err, ContainsSubstring("runtime.threads is 64") && ContainsSubstring("ulimit -u"));
}

}  // namespace headprune
