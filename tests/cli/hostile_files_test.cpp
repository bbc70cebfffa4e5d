// Files and places that are not what they should be, through the real binary: closed descriptors, devices, pipes,
// closed folders, JSON of other types. Every command is under a limit of time, so that one that waits for ever fails.
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cli/program.h"
#include "core/text.h"
#include "support/catch.h"
#include "support/journal.h"

namespace headprune {

namespace {

/// A copy of the finished run, made by a clean tool as far as it says, in a folder that everybody may enter.
struct Place {
  TestFolder folder;
  Place() {
    fs::copy(finished_run(), folder / "run", fs::copy_options::recursive);
    change_journal(folder / "run", [](Json& line) {
      if (line.contains("tool")) line["tool"]["dirty"] = false;
    });
    folder.write("tiny.yaml", kTinyExperiment);
    fs::permissions(folder.path(), fs::perms::all);
  }
  Finished shell(const std::string& script) const { return shell_in(folder.path(), script); }
};

void make_fifo(const fs::path& path) { REQUIRE(::mkfifo(path.c_str(), 0666) == 0); }

/// A null device of our own; false without the right to make one.
bool make_device(const fs::path& path) {
  const bool made = ::mknod(path.c_str(), S_IFCHR | 0666, makedev(1, 3)) == 0;
  if (!made) WARN("skipped: not allowed to make device nodes here");
  return made;
}

struct stat status_of(const fs::path& path) {
  struct stat status = {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status;
}

/// A command as another user, or nothing where that cannot be had here.
std::string as_nobody(const Place& place) {
  const std::string become = "setpriv --reuid=65534 --regid=65534 --clear-groups ";
  if (::geteuid() != 0 || place.shell(become + "test -x $H").code != 0) {
    WARN("skipped: cannot become another user here, or the program lies where nobody else may go");
    return "";
  }
  return become;
}

}  // namespace

TEST_CASE("with closed standard descriptors a run keeps its files, and readers theirs", "[cli][hostile]") {
  const Place place;
  for (const char* program : {"$H", "$H-torch"}) {
    for (const std::string closed : {"<&- >&- 2>&-", "<&-", ">&-", "2>&-"}) {
      const std::string command = program;
      INFO(command << " " << closed);
      CHECK(place.shell("$T " + command + " run tiny.yaml --out out " + closed).code == 0);
      CHECK(place.shell("$T " + command + " report out " + closed).code == 0);
      const Finished verified = place.shell("$T $H runs info out --verify");
      INFO(verified.out << verified.err);
      CHECK(verified.code == 0);
      CHECK(place.shell("$T $H run tiny.yaml --out out").code == 0);  // and goes on
      fs::remove_all(place.folder / "out");
    }
  }
}

TEST_CASE("what is no regular file is not replaced, and links are followed", "[cli][hostile]") {
  const Place place;
  const std::string update = "$T $H baseline update run --reason r --baseline ";
  if (make_device(place.folder / "device")) {
    const Finished refused = place.shell(update + "device");
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, ContainsSubstring("a device"));
    CHECK(S_ISCHR(status_of(place.folder / "device").st_mode));
  }
  make_fifo(place.folder / "fifo");
  CHECK(place.shell(update + "fifo").code == 2);
  CHECK(S_ISFIFO(status_of(place.folder / "fifo").st_mode));
  CHECK(place.shell(update + "run").code == 2);

  // A shared baseline, reached through two links; then one that is not there yet.
  make_folders(place.folder / "shared");
  fs::create_symlink("shared/a.json", place.folder / "link");
  fs::create_symlink("link", place.folder / "link2");
  for (int i = 0; i < 2; ++i) {
    const Finished made = place.shell(update + "link2");
    INFO(made.err);
    CHECK(made.code == 0);
    CHECK(S_ISLNK(status_of(place.folder / "link").st_mode));
    CHECK(S_ISLNK(status_of(place.folder / "link2").st_mode));
  }
  CHECK(parse_json(read_file(place.folder / "shared/a.json"), "a.json")["history"].size() == 2);
  fs::create_symlink("loop", place.folder / "loop");
  CHECK(place.shell(update + "loop").code == 2);

  // Views: one that cannot be replaced keeps all the others as they were.
  CHECK(place.shell("$T $H report run --to views").code == 0);
  fs::remove(place.folder / "views/metrics.json");
  make_fifo(place.folder / "views/metrics.json");
  write_file(place.folder / "views/curve.csv", "mine\n");
  const Finished refused = place.shell("$T $H report run --to views");
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, ContainsSubstring("metrics.json: a FIFO"));
  CHECK(read_file(place.folder / "views/curve.csv") == "mine\n");
  make_folders(place.folder / "gate");
  make_fifo(place.folder / "gate/junit.xml");
  CHECK(place.shell("$T $H check run --baseline shared/a.json --out gate").code == 2);
  CHECK(S_ISFIFO(status_of(place.folder / "gate/junit.xml").st_mode));
  for (const char* command : {"export csv run --to fifo", "report run --to fifo", "run tiny.yaml --out fifo",
                              "check run --baseline shared/a.json --out fifo"}) {
    INFO(command);
    CHECK(place.shell(std::string("$T $H ") + command).code == 2);
    CHECK(S_ISFIFO(status_of(place.folder / "fifo").st_mode));
  }
  CHECK(place.shell("GITHUB_STEP_SUMMARY=fifo $T $H check run --baseline shared/a.json --out g --github").code == 74);
}

TEST_CASE("output that cannot be written is exit 74, for every command", "[cli][hostile]") {
  const Place place;
  REQUIRE(place.shell("$T $H baseline update run --reason r --baseline b.json").code == 0);
  for (const std::string command : {"run tiny.yaml",
                                    "run tiny.yaml --json",
                                    "run tiny.yaml --dry-run",
                                    "validate tiny.yaml",
                                    "init",
                                    "list scores",
                                    "list models",
                                    "list configs",
                                    "config show tiny.yaml",
                                    "config schema",
                                    "inspect run",
                                    "runs ls .",
                                    "runs info run",
                                    "runs diff run run",
                                    "report run --to views",
                                    "compare run run",
                                    "check run --baseline b.json --out gate",
                                    "baseline show b.json",
                                    "baseline update run --reason r --baseline c",
                                    "export csv run --to exported",
                                    "--help",
                                    "--version",
                                    "run --help",
                                    "report --help"}) {
    INFO(command);
    const Finished full = place.shell("$T $H " + command + " > /dev/full");
    INFO(full.err);
    CHECK(full.code == 74);
    CHECK_THAT(full.err, ContainsSubstring("cannot write to stdout"));
  }
}

TEST_CASE("pipes, devices and folders in the place of files are refused at once", "[cli][hostile]") {
  const Place place;
  make_fifo(place.folder / "fifo");
  place.folder.write("data/train.tsv", "sentence\tlabel\ngood\t1\nbad\t0\n");
  make_fifo(place.folder / "data/dev.tsv");
  place.folder.write("data.yaml",
                     "name: d\ndata: {type: tsv, path: data, unit: word}\ntask: {type: classification}\n"
                     "model: {type: encoder, d_model: 8, layers: 1, heads: 2}\ntrain: {max_steps: 1}\n");
  place.folder.write("model.yaml",
                     "name: m\ndata: {type: tsv, path: data, unit: word}\ntask: {type: classification}\n"
                     "model: {type: encoder, path: model}\nscore: {methods: [entropy]}\n");
  std::vector<std::string> commands = {"run fifo",
                                       "validate fifo",
                                       "config show fifo",
                                       "inspect fifo",
                                       "baseline show fifo",
                                       "check run --baseline fifo --out gate",
                                       "baseline update run --reason r --baseline fifo",
                                       "run data.yaml",
                                       "validate data.yaml",
                                       "validate model.yaml",
                                       "generate run/model/seed-1 --prompt-file fifo",
                                       "inspect /dev/zero",
                                       "validate /dev/zero",
                                       "baseline show /dev/zero"};
  for (const std::string& command : commands) {
    const Finished refused = place.shell("$T $H " + command);
    INFO(command << ": " << refused.err);
    CHECK(refused.code == 2);
  }
  for (const char* name : {"journal.jsonl", "run.json", "status.json", "config.yaml"}) {
    fs::remove_all(place.folder / "copy");
    fs::copy(place.folder / "run", place.folder / "copy", fs::copy_options::recursive);
    fs::remove(place.folder / "copy" / name);
    make_fifo(place.folder / "copy" / name);
    for (const std::string command :
         {"report copy --to views", "runs info copy", "runs ls .", "inspect copy", "compare copy run"}) {
      const Finished finished = place.shell("$T $H " + command);
      INFO(name << ": " << command << ": " << finished.err);
      CHECK((finished.code == 0 || finished.code == 2));
    }
  }
  fs::remove_all(place.folder / "copy");
  for (const char* name : {"config.json", "model.safetensors", "vocabulary.json", "manifest.json"}) {
    fs::remove_all(place.folder / "model");
    fs::copy(place.folder / "run/model/seed-1", place.folder / "model", fs::copy_options::recursive);
    if (std::string(name) != "manifest.json") fs::remove(place.folder / "model/manifest.json");
    fs::remove(place.folder / "model" / name);
    make_fifo(place.folder / "model" / name);
    for (const std::string command : {"inspect model", "generate model --prompt a"}) {
      const Finished refused = place.shell("$T $H " + command);
      INFO(name << ": " << command << ": " << refused.err);
      CHECK((refused.code == 0 || refused.code == 2 || refused.code == 4));
    }
  }
}

TEST_CASE("a large file is recognised by its first bytes, and not read beyond what its kind has", "[cli][hostile]") {
  const Place place;
  place.folder.write("big.bin", "no kind");
  place.folder.write("big.json", "{\"pruning\": ");
  place.folder.write("big.tsv", "a\tb\n");
  for (const char* name : {"big.bin", "big.json", "big.tsv"})
    fs::resize_file(place.folder / name, uint64_t{1} << 40);  // a hole, which takes no space
  CHECK(place.shell("$T $H inspect big.bin").code == 4);
  const Finished json = place.shell("$T $H inspect big.json");
  CHECK(json.code == 4);
  CHECK_THAT(json.err, ContainsSubstring("which no file of its kind has"));
  CHECK(place.shell("$T $H baseline show big.json").code == 4);
  CHECK(place.shell("$T $H validate big.json").code == 2);
  place.folder.write("data.yaml",
                     "name: d\ndata: {type: tsv, path: big.tsv, unit: word}\ntask: {type: classification}\n"
                     "model: {type: encoder, d_model: 8, layers: 1, heads: 2}\ntrain: {max_steps: 1}\n");
  const Finished data = place.shell("$T $H validate data.yaml");
  INFO(data.err);
  CHECK((data.code == 2 || data.code == 4));
}

TEST_CASE("one run folder that cannot be read does not hide the others", "[cli][hostile]") {
  const Place place;
  make_folders(place.folder / "runs/closed");
  fs::copy(place.folder / "run", place.folder / "runs/good", fs::copy_options::recursive);
  place.folder.write("runs/empty/run.json", "{}");
  place.folder.write("runs/list/status.json", "[]");
  fs::create_symlink("loop", place.folder / "runs/loop");
  fs::permissions(place.folder / "runs/closed", fs::perms::none);
  const Finished own = place.shell("$T $H runs ls runs");
  INFO(own.out << own.err);
  CHECK(own.code == 0);
  for (const char* part : {"good", "empty", "unreadable", "loop: cannot get at runs/loop", "is missing"})
    CHECK_THAT(own.out, ContainsSubstring(part));
  CHECK(place.shell("$T $H --json runs ls runs").code == 0);
  const std::string become = as_nobody(place);
  if (become.empty()) return;
  const Finished other = place.shell("$T " + become + "$H runs ls runs");
  CHECK(other.code == 0);
  CHECK_THAT(other.out, ContainsSubstring("closed: cannot get at") && ContainsSubstring("good"));
  for (const std::string path : {"runs/closed", "runs/closed/x", "runs/closed/x/y.yaml"}) {
    for (const std::string verb : {"runs info", "runs ls", "report", "compare run", "inspect", "export csv --to e",
                                   "validate", "run", "config show", "baseline show", "check run --out g --baseline"}) {
      if (path == "runs/closed" && verb == "validate") break;  // these take a file, and say that it is a folder
      const Finished refused = place.shell("$T " + become + "$H " + verb + " " + path);
      INFO(verb << " " << path << ": " << refused.err);
      CHECK((refused.code == 2 || refused.code == 74));
      CHECK_THAT(refused.err, ContainsSubstring("ermission denied"));
      CHECK_THAT(refused.err, !ContainsSubstring("does not exist"));
    }
  }
  // Runs beside it: the closed folder may even have the name of the experiment.
  make_folders(place.folder / "runs/tiny");
  fs::permissions(place.folder / "runs/tiny", fs::perms::none);
  fs::permissions(place.folder / "runs", fs::perms::all);
  const Finished beside = place.shell("$T " + become + "$H run tiny.yaml");
  INFO(beside.err);
  CHECK(beside.code == 0);
  CHECK_THAT(beside.err, ContainsSubstring("runs/tiny is passed over: Permission denied"));
  CHECK(fs::exists(place.folder / "runs/tiny-2/results.json"));
  // Nor where something is to be written.
  for (const char* command : {"report run --to runs/closed/x", "check run --baseline x.json --out runs/closed/x",
                              "export csv run --to runs/closed/x", "run tiny.yaml --out runs/closed/x",
                              "baseline update run --reason r --baseline runs/closed/x"}) {
    const Finished refused = place.shell("$T " + become + "$H " + command);
    INFO(command << ": " << refused.err);
    CHECK((refused.code == 2 || refused.code == 74));
    CHECK_THAT(refused.err, ContainsSubstring("ermission denied"));
  }
  fs::permissions(place.folder / "runs/closed", fs::perms::all);
}

TEST_CASE("names that are too long, loops of links and few descriptors are a sentence", "[cli][hostile]") {
  const Place place;
  fs::create_symlink("loop", place.folder / "loop");
  const std::string name(300, 'a');
  for (const std::string& path : {name, name + "/x", std::string("loop"), std::string("loop/x")}) {
    for (const char* verb : {"runs info", "runs ls", "report", "inspect", "validate", "run", "baseline show",
                             "check run --out g --baseline", "export csv run --to", "report run --to",
                             "baseline update run --reason r --baseline", "run tiny.yaml --out"}) {
      const Finished refused = place.shell("$T $H " + std::string(verb) + " " + path);
      INFO(verb << " " << path << ": " << refused.err);
      CHECK((refused.code == 2 || refused.code == 11 || refused.code == 74));
      CHECK_THAT(refused.err, !ContainsSubstring("unexpected"));
    }
  }
  for (const char* command : {"runs ls .", "runs info run", "report run --to views", "inspect run/results.json"}) {
    for (const int open : {4, 5, 6, 8, 12}) {
      const Finished refused = place.shell("ulimit -n " + std::to_string(open) + "; $H " + command);
      INFO(command << " with " << open << ": " << refused.err);
      // With very few the loader itself finds no libraries (127).
      CHECK((refused.code == 0 || refused.code == 2 || refused.code == 4 || refused.code == 74 || refused.code == 127));
    }
  }
}

}  // namespace headprune
