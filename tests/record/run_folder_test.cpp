#include "record/run_folder.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "core/error.h"
#include "core/files.h"
#include "support/catch.h"
#include "support/folder.h"

using namespace headprune;

namespace {

FolderRequest request(const fs::path& dir, const std::string& id) {
  FolderRequest result;
  result.dir = dir;
  result.name = "quick";
  result.experiment_id = id;
  result.config_yaml = "name: quick\nseeds: [1]\ntrain:\n  learning_rate: 0.001\nruntime:\n  threads: 2\n";
  result.inputs = Json::array({{{"role", "data.train"}, {"path", "/d"}, {"bytes", 1}, {"sha256", "bbb"}}});
  return result;
}

/// What a run leaves in its folder at the start.
void begin(const fs::path& folder, const std::string& id) {
  RunContext context;
  context.name = "quick";
  context.experiment_id = id;
  context.created = "2026-01-02T03:04:05.678Z";
  context.tool = context.host = context.fingerprint = Json::object();
  context.inputs = Json::array({{{"role", "data.train"}, {"path", "/d"}, {"bytes", 1}, {"sha256", "aaa"}}});
  write_file(folder / kConfig, "name: quick\nseeds: [1, 2]\ntrain:\n  learning_rate: 1.0e-4\nruntime:\n  threads: 1\n");
  write_run_context(folder, context);
}

std::string name_of(const OpenedFolder& folder) { return folder.path.filename().string(); }

/// Opens, begins and leaves.
std::string run_once(const FolderRequest& wanted) {
  const OpenedFolder opened = open_run_folder(wanted);
  if (!opened.continued) begin(opened.path, wanted.experiment_id);
  return name_of(opened) + (opened.continued ? " continued" : "");
}

std::string error_of(const FolderRequest& wanted, ExitCode code) {
  try {
    open_run_folder(wanted);
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the newest folder of the same experiment is continued, another gets the next name", "[record]") {
  const TestFolder dir;
  CHECK(run_once(request(dir.path(), "a")) == "quick");
  CHECK(run_once(request(dir.path(), "a")) == "quick continued");
  CHECK(run_once(request(dir.path(), "b")) == "quick-2");
  CHECK(run_once(request(dir.path(), "a")) == "quick continued");
  FolderRequest fresh = request(dir.path(), "a");
  fresh.fresh = true;
  CHECK(run_once(fresh) == "quick-3");
  CHECK(run_once(request(dir.path(), "a")) == "quick-3 continued");
  CHECK(run_once(request(dir.path(), "b")) == "quick-2 continued");
  fs::remove_all(dir.path() / "quick-2");
  CHECK(run_once(request(dir.path(), "c")) == "quick-4");
  fs::create_directories(dir.path() / "quick-99x");
  fs::create_directories(dir.path() / "quick-run");
  CHECK(run_once(request(dir.path(), "d")) == "quick-5");
}

TEST_CASE("ten is newer than nine", "[record]") {
  const TestFolder dir;
  FolderRequest fresh = request(dir.path(), "a");
  fresh.fresh = true;
  for (int i = 0; i < 10; ++i) run_once(fresh);
  CHECK(run_once(request(dir.path(), "a")) == "quick-10 continued");
}

TEST_CASE("what changed against the newest other run is said", "[record]") {
  const TestFolder dir;
  run_once(request(dir.path(), "a"));
  const OpenedFolder opened = open_run_folder(request(dir.path(), "b"));
  CHECK(opened.other == dir.path() / "quick");
  CHECK(opened.changed == std::vector<std::string>{"seeds: [1, 2] -> [1]", "train.learning_rate: 1.0e-4 -> 0.001",
                                                   "data.train: sha256 aaa -> sha256 bbb"});
}

TEST_CASE("a folder that was killed before run.json is taken over", "[record]") {
  const TestFolder dir;
  {
    const OpenedFolder opened = open_run_folder(request(dir.path(), "a"));
    write_file(opened.path / kConfig, "name: quick\n");
    std::ofstream(opened.path / ".tmp-abc") << "x";
  }
  CHECK(run_once(request(dir.path(), "b")) == "quick");
  fs::create_directories(dir.path() / "quick-2" / "photos");
  CHECK(run_once(request(dir.path(), "c")) == "quick-3");  // somebody else's folder
}

TEST_CASE("--out takes exactly that folder or says why not", "[record]") {
  const TestFolder dir;
  FolderRequest wanted = request(dir.path() / "unused", "a");
  wanted.out = dir.path() / "deep" / "mine";
  CHECK(run_once(wanted) == "mine");
  CHECK(run_once(wanted) == "mine continued");
  CHECK_FALSE(fs::exists(dir.path() / "unused"));
  wanted.experiment_id = "b";
  CHECK_THAT(error_of(wanted, ExitCode::usage),
             ContainsSubstring("another experiment") && ContainsSubstring("train.learning_rate: 1.0e-4 -> 0.001"));
  wanted.experiment_id = "a";
  wanted.fresh = true;
  CHECK_THAT(error_of(wanted, ExitCode::usage), ContainsSubstring("--new"));
  fs::create_directories(dir.path() / "busy");
  std::ofstream(dir.path() / "busy" / "thesis.tex") << "x";
  wanted.out = dir.path() / "busy";
  CHECK_THAT(error_of(wanted, ExitCode::usage), ContainsSubstring("not empty"));
}

TEST_CASE("a run folder belongs to one live process", "[record]") {
  const TestFolder dir;
  run_once(request(dir.path(), "a"));
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    char answer = 'n';
    try {
      const RunLock lock(dir.path() / "quick");
      answer = 'y';
      if (write(ready[1], &answer, 1) == 1) pause();  // until killed
    } catch (const std::exception&) {
      if (write(ready[1], &answer, 1) != 1) _exit(2);
    }
    _exit(1);
  }
  char answer = 0;
  REQUIRE(read(ready[0], &answer, 1) == 1);
  REQUIRE(answer == 'y');
  const std::string message = error_of(request(dir.path(), "a"), ExitCode::usage);
  CHECK_THAT(message, ContainsSubstring("in use by process " + std::to_string(child)));
  kill(child, SIGKILL);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  CHECK(run_once(request(dir.path(), "a")) == "quick continued");  // a killed holder holds nothing
  close(ready[0]);
  close(ready[1]);
}

TEST_CASE("two locks in one process exclude each other as well", "[record]") {
  const TestFolder dir;
  const OpenedFolder first = open_run_folder(request(dir.path(), "a"));
  begin(first.path, "a");
  CHECK_THAT(error_of(request(dir.path(), "a"), ExitCode::usage), ContainsSubstring("in use"));
}

TEST_CASE("run.json is written once and read back", "[record]") {
  const TestFolder dir;
  begin(dir.path(), "a");
  const RunContext context = read_run_context(dir.path());
  CHECK(context.experiment_id == "a");
  CHECK(context.inputs.size() == 1);
  CHECK_THROWS_AS(write_run_context(dir.path(), context), std::logic_error);
  std::vector<std::string> keys;
  const Json json = parse_json(read_file(dir.path() / kRunJson), "run.json");
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  CHECK(keys == std::vector<std::string>{"schema_version", "name", "experiment_id", "created", "tool", "argv",
                                         "overrides", "config_files", "inputs", "env", "host", "fingerprint",
                                         "config_origins"});
}

TEST_CASE("only the compared fields of a fingerprint count", "[record]") {
  const Json a = {{"threads", 1}, {"blas", "mkl"}, {"tool_git", "abc"}, {"compiler", "GNU 12"}, {"interop_threads", 2}};
  Json b = a;
  b["interop_threads"] = 8;
  b["tool_git"] = "def";
  b["compiler"] = "GNU 13";
  CHECK(fingerprint_diff(a, b).empty());
  b["threads"] = 2;
  b.erase("blas");
  CHECK(fingerprint_diff(a, b) == std::vector<std::string>{"threads: 1 -> 2", R"(blas: "mkl" -> (absent))"});
  CHECK(fingerprint_diff({{"linear", "blas"}}, {{"linear", "onednn"}}) ==
        std::vector<std::string>{R"(linear: "blas" -> "onednn")"});
}

TEST_CASE("configurations differ by key, lists of plain values as a whole", "[record]") {
  CHECK(config_diff("a: {b: 1, c: [1, 2]}\nd: [{x: 1}]\n", "a: {b: 2, c: [1]}\nd: [{x: 3}]\ne: null\n") ==
        std::vector<std::string>{"a.b: 1 -> 2", "a.c: [1, 2] -> [1]", "d.0.x: 1 -> 3", "e: (absent) -> null"});
  CHECK(config_diff("a: 1\n# comment\n", "a: 1\n").empty());
}

TEST_CASE("models and checkpoints have their places", "[record]") {
  CHECK(model_folder(3, /*several_seeds=*/false) == "model");
  CHECK(model_folder(3, /*several_seeds=*/true) == "model/seed-3");
  CHECK(train_folder(3) == "train/seed-3");
}
