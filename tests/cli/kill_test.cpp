// A run that is killed, or out of disk, and started again ends with the bytes of one that was left alone.
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <thread>

#include "cli/program.h"
#include "core/random.h"
#include "support/catch.h"

namespace headprune {

namespace {

void write_experiment(const fs::path& folder) { write_file(folder / "small.yaml", kSmallExperiment); }

const std::vector<std::string> kRun = {"run", "small.yaml", "--out", "out"};

/// How far a run has come.
uint64_t logged_bytes(const fs::path& run) {
  uint64_t bytes = 0;
  for (const char* log : {"journal.jsonl", "train.jsonl"}) {
    std::error_code missing;
    const uintmax_t size = fs::file_size(run / log, missing);
    if (!missing) bytes += size;
  }
  return bytes;
}

void check_same(const fs::path& run, const fs::path& reference) {
  const auto found = lasting_results(run), expected = lasting_results(reference);
  for (size_t i = 0; i < expected.size(); ++i) {
    INFO(expected[i].first);
    CHECK(found[i].second == expected[i].second);
  }
}

}  // namespace

TEST_CASE("killed at a dozen random moments, a run ends with the bytes of an uninterrupted one", "[cli][kill]") {
  const TestFolder calm, killed;
  write_experiment(calm.path());
  write_experiment(killed.path());
  const Finished reference = headprune_in(calm.path(), kRun);
  INFO(reference.err);
  REQUIRE(reference.code == 0);

  // A moment is a length of the two logs, not a time: together the attempts get through most of the run, whatever the
  // machine's speed, and each one is killed.
  Random random(20261129);
  const uint64_t share = logged_bytes(calm / "out") / 16;
  for (int attempt = 0; attempt < 12; ++attempt) {
    const uint64_t end = logged_bytes(killed / "out") + 1 + random.below(2 * share);
    Program program(kRun, killed.path());
    while (program.running() && logged_bytes(killed / "out") < end)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(3000)));
    program.signal(SIGKILL);
    CHECK(program.wait().code == 128 + SIGKILL);
  }
  const Finished last = headprune_in(killed.path(), kRun);
  INFO(last.err);
  REQUIRE(last.code == 0);
  check_same(killed / "out", calm / "out");
}

TEST_CASE("killed while it starts, a run folder is continued all the same", "[cli][kill]") {
  const TestFolder calm, killed;
  write_experiment(calm.path());
  write_experiment(killed.path());
  REQUIRE(headprune_in(calm.path(), kRun).code == 0);
  for (int attempt = 0; attempt < 12; ++attempt) {
    Program program(kRun, killed.path());
    // From before the folder exists to shortly after.
    const int wait_ms = 20 * (attempt + 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
    program.signal(SIGKILL);
    program.wait();
  }
  const Finished last = headprune_in(killed.path(), kRun);
  INFO(last.err);
  REQUIRE(last.code == 0);
  check_same(killed / "out", calm / "out");
}

TEST_CASE("a first SIGINT or SIGTERM stops cleanly with its exit code and the run continues", "[cli][kill]") {
  const TestFolder calm, stopped;
  write_experiment(calm.path());
  write_experiment(stopped.path());
  REQUIRE(headprune_in(calm.path(), kRun).code == 0);
  const std::pair<int, int> signals[] = {{SIGINT, 130}, {SIGTERM, 143}, {SIGUSR1, 75}};
  for (const auto& [number, code] : signals) {
    Program program(kRun, stopped.path());
    // The status names this process once the handlers are in place.
    const fs::path status = stopped / "out/status.json";
    while (program.running() &&
           !(fs::exists(status) && parse_json(read_file(status), "status.json")["pid"] == program.pid()))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    program.signal(number);
    const Finished finished = program.wait();
    INFO(finished.err);
    CHECK(finished.code == code);
    CHECK(parse_json(read_file(stopped / "out/status.json"), "status.json")["state"] == "interrupted");
  }
  REQUIRE(headprune_in(stopped.path(), kRun).code == 0);
  check_same(stopped / "out", calm / "out");
}

TEST_CASE("a full disk is exit 74, damages nothing, and the run continues once there is space", "[cli][disk]") {
  const TestFolder calm, full;
  write_experiment(calm.path());
  write_experiment(full.path());
  REQUIRE(headprune_in(calm.path(), kRun).code == 0);
  const fs::path disk = full / "disk";
  fs::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=1m") != 0) {
    WARN("not allowed to mount a tmpfs here; the full-disk test needs it");
    return;
  }
  // The estimate before the first step would refuse this disk outright, so the space goes while the run is on.
  REQUIRE(mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=64m") == 0);
  const std::vector<std::string> run = {"run", "small.yaml", "--out", "disk/out"};
  for (const char* appears : {"out/journal.jsonl", "out/model/seed-1", "out/curve.csv"}) {
    Program program(run, full.path());
    while (program.running() && !fs::exists(disk / appears)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    // Fill what is left.
    {
      std::string block(1 << 16, 'x');
      FILE* filler = fopen((disk / "filler").c_str(), "w");
      REQUIRE(filler);
      setvbuf(filler, nullptr, _IONBF, 0);
      while (fwrite(block.data(), 1, block.size(), filler) == block.size()) {
      }
      fclose(filler);
    }
    const Finished finished = program.wait();
    INFO(appears << "\n" << finished.err);
    // Nothing was left to write only when the run had ended already.
    CHECK((finished.code == 74 || std::string(appears) == "out/curve.csv"));
    fs::remove(disk / "filler");
  }
  const Finished last = headprune_in(full.path(), run);
  CHECK(last.code == 0);
  INFO(last.err);
  if (last.code == 0) check_same(disk / "out", calm / "out");
  CHECK(umount(disk.c_str()) == 0);
}

}  // namespace headprune
