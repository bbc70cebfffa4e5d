// The gate and the commands that read finished runs, through the real binary.
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <map>

#include "cli/program.h"
#include "support/catch.h"
#include "support/journal.h"

namespace headprune {

namespace {

Json json_of(const fs::path& path) { return parse_json(read_file(path), path.string()); }

/// A completed run of the small experiment with one seed, and a baseline of it. The tool counts as built from committed
/// sources, whatever the state of the tree that is tested.
struct Gated {
  TestFolder folder;
  fs::path run, baseline;
};

Gated& gated() {
  static Gated gate;
  if (!gate.run.empty()) return gate;
  write_file(gate.folder / "small.yaml", kSmallExperiment);
  const Finished run = headprune_in(gate.folder.path(), {"run", "small.yaml", "seeds=[1]"});
  if (run.code != 0) throw std::runtime_error("the small experiment failed: " + run.err);
  gate.run = gate.folder / "runs/small";
  change_journal(gate.run, [](Json& line) {
    if (line.contains("tool")) line["tool"]["dirty"] = false;
  });
  const Finished made = headprune_in(gate.folder.path(), {"baseline", "update", "runs/small", "--reason", "first"});
  if (made.code != 0) throw std::runtime_error("baseline update failed: " + made.err);
  gate.baseline = gate.folder / "expected.json";  // beside the experiment
  return gate;
}

/// A copy of the run with its journal changed.
fs::path changed_run(const TestFolder& folder, const std::function<void(Json&)>& change) {
  fs::copy(gated().run, folder / "run", fs::copy_options::recursive);
  fs::remove_all(folder / "run/check");
  change_journal(folder / "run", change);
  return folder / "run";
}

bool is_base(const Json& line) { return line["ev"] == "point_done" && line["spec"].value("rule", "") == "none"; }

Finished check_with(const TestFolder& folder, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"check", "run", "--baseline", gated().baseline.string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return headprune_in(folder.path(), arguments);
}

Json verdict_of(const TestFolder& folder, const std::string& key) {
  const Json verdict = json_of(folder / "run/check/verdict.json");
  for (const Json& metric : verdict["metrics"]) {
    if (metric["key"] == key) return metric;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("check passes on the run that the baseline was made of, and finds the baseline by itself", "[cli][gate]") {
  const Finished finished = headprune_in(gated().folder.path(), {"check", "runs/small"});
  INFO(finished.out << finished.err);
  CHECK(finished.code == 0);
  CHECK_THAT(finished.out, ContainsSubstring("check: ok"));
  for (const char* name : {"verdict.json", "junit.xml", "summary.md"}) CHECK(fs::exists(gated().run / "check" / name));
  CHECK(json_of(gated().run / "check/verdict.json")["compared"].get<int>() > 20);
}

TEST_CASE("check is red for a metric worse than tolerance and green for one better", "[cli][gate]") {
  for (const double change : {-0.25, 0.25}) {
    const TestFolder folder;
    changed_run(folder, [&](Json& line) {
      if (!is_base(line)) return;
      Json& value = line["metrics"]["accuracy"]["value"];
      value = value.get<double>() + change;
    });
    const Finished finished = check_with(folder, {"--policy", "accuracy:0.02"});
    INFO(finished.out << finished.err);
    CHECK(finished.code == (change < 0 ? 10 : 0));
    CHECK(verdict_of(folder, "base/accuracy")["verdict"] == (change < 0 ? "regressed" : "improved"));
    CHECK_THAT(finished.out, ContainsSubstring(change < 0 ? "worse than the baseline allows" : "improved"));
  }
}

TEST_CASE("check is red for a metric that vanished and for a NaN", "[cli][gate]") {
  const TestFolder folder;
  changed_run(folder, [](Json& line) {
    if (is_base(line)) line["metrics"].erase("loss");
  });
  const Finished missing = check_with(folder);
  INFO(missing.out << missing.err);
  CHECK(missing.code == 13);
  CHECK(verdict_of(folder, "base/loss")["verdict"] == "missing");

  const TestFolder other;
  changed_run(other, [](Json& line) {
    if (!is_base(line)) return;
    line["metrics"]["accuracy"]["value"] = nullptr;
    line["metrics"]["accuracy"]["nonfinite"] = "nan";
  });
  const Finished nan = check_with(other);
  INFO(nan.out << nan.err);
  CHECK(nan.code == 13);
  CHECK(verdict_of(other, "base/accuracy")["verdict"] == "nonfinite");
}

TEST_CASE("check refuses other data, another thread count and an unfinished run, each with its reason", "[cli][gate]") {
  const TestFolder folder;
  write_file(folder / "small.yaml", kSmallExperiment);
  const Finished run = headprune_in(folder.path(), {"run", "small.yaml", "seeds=[1]", "data.examples.test=70",
                                                    "--until", "evaluate", "--out", "run"});
  REQUIRE(run.code == 0);
  const Finished data = check_with(folder);
  CHECK(data.code == 12);
  CHECK_THAT(data.out, ContainsSubstring("the data of the report split are not those of the baseline"));

  const TestFolder threads;
  changed_run(threads, [](Json& line) {
    if (line["ev"] == "env") line["fingerprint"]["threads"] = 2;
  });
  const Finished strict = check_with(threads);
  CHECK(strict.code == 12);
  CHECK_THAT(strict.out, ContainsSubstring("threads: 1 -> 2"));
  const Finished tolerated = check_with(threads, {"--tolerate-fingerprint", "--policy", "*:0.01"});
  CHECK(tolerated.code == 0);
  CHECK_THAT(tolerated.out, ContainsSubstring("tolerated"));
  CHECK(check_with(threads, {"--tolerate-fingerprint"}).code == 2);

  const TestFolder partial;
  changed_run(partial, [](Json& line) {
    if (line["ev"] == "run_done") line["state"] = "partial";
  });
  const Finished unfinished = check_with(partial);
  CHECK(unfinished.code == 13);
  CHECK_THAT(unfinished.out, ContainsSubstring("\"partial\""));
}

TEST_CASE("a broken score turns the gate red with a reason that names it", "[cli][gate]") {
  // What a gradient score of the wrong sign does: it ranks backwards, and its curve falls at once.
  const TestFolder folder;
  changed_run(folder, [](Json& line) {
    if (line["ev"] == "score" && line["method"] == "gradient_l1") {
      for (Json& score : line["scores"]) score = -score.get<double>();
    }
    if (line["ev"] != "point_done" || line["spec"].value("method", "") != "gradient_l1" || !line.contains("metrics"))
      return;
    if (line["spec"]["heads_removed"] == 0 || line["spec"].value("sweep", "") != "one_shot") return;
    line["metrics"]["accuracy"]["value"] = 0.05;
  });
  const Finished finished = check_with(folder, {"--policy", "accuracy:0.02"});
  INFO(finished.out << finished.err);
  CHECK(finished.code == 10);
  CHECK_THAT(finished.out, ContainsSubstring("curve/gradient_l1/one_shot/"));
  CHECK_THAT(finished.out, ContainsSubstring("agreement/"));
  CHECK_THAT(read_file(folder / "run/check/summary.md"), ContainsSubstring("auc/gradient_l1/one_shot/accuracy"));
}

TEST_CASE("check without a baseline says how to make one", "[cli][gate]") {
  const TestFolder folder;
  changed_run(folder, [](Json&) {});
  const Finished finished = headprune_in(folder.path(), {"check", "run", "--baseline", "none.json", "--json"});
  CHECK(finished.code == 11);
  const Json verdict = parse_json(finished.out, "stdout");
  CHECK(verdict["verdict"] == "baseline_missing");
  CHECK_THAT(verdict["reasons"][0].get<std::string>(),
             ContainsSubstring("headprune baseline update run --baseline none.json"));
}

TEST_CASE("on GitHub, check annotates the baseline and leaves its summary and outputs", "[cli][gate]") {
  const TestFolder folder;
  changed_run(folder, [](Json& line) {
    if (is_base(line)) line["metrics"]["accuracy"]["value"] = 0.0;
  });
  fs::copy_file(gated().baseline, folder / "expected.json");
  const std::string summary = (folder / "summary").string(), output = (folder / "output").string();
  write_file(folder / "summary", "before\n");
  const Finished finished =
      headprune_in(folder.path(), {"check", "run", "--baseline", "expected.json", "--out", "gate"},
                   {"GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=" + summary, "GITHUB_OUTPUT=" + output});
  CHECK(finished.code == 10);
  CHECK_THAT(finished.out, ContainsSubstring("::error file=expected.json,line="));
  CHECK_THAT(finished.out, ContainsSubstring("base/accuracy: 0 "));
  CHECK_THAT(read_file(folder / "summary"), ContainsSubstring("before\n## headprune check: regression"));
  CHECK_THAT(read_file(folder / "output"), ContainsSubstring("verdict=regression\nworst_metric=base/accuracy\n"));
  CHECK(fs::exists(folder / "gate/junit.xml"));
  CHECK_FALSE(fs::exists(folder / "run/check/junit.xml"));
}

TEST_CASE("a baseline can be shown and replaced, and keeps its history", "[cli][gate]") {
  const TestFolder folder;
  changed_run(folder, [](Json&) {});
  fs::copy_file(gated().baseline, folder / "expected.json");
  CHECK(headprune_in(folder.path(), {"baseline", "update", "run", "--baseline", "expected.json"}).code == 2);
  const Finished updated =
      headprune_in(folder.path(), {"baseline", "update", "run", "--baseline", "expected.json", "--reason", "second"});
  CHECK(updated.code == 0);
  const Json baseline = json_of(folder / "expected.json");
  REQUIRE(baseline["history"].size() == 2);
  CHECK(baseline["history"][1]["reason"] == "second");
  const Finished shown = headprune_in(folder.path(), {"baseline", "show", "expected.json"});
  CHECK(shown.code == 0);
  CHECK_THAT(shown.out, ContainsSubstring("base/accuracy"));
  CHECK_THAT(shown.out, ContainsSubstring("second"));
}

TEST_CASE("folders and journals that are not right are refused with one sentence", "[cli][gate]") {
  const TestFolder folder;
  make_folders(folder / "empty");
  for (const char* command : {"check", "report"}) {
    const Finished empty = headprune_in(folder.path(), {command, "empty"});
    INFO(empty.err);
    CHECK(empty.code == 2);
    CHECK_THAT(empty.err, ContainsSubstring("not a run folder"));
  }
  changed_run(folder, [](Json&) {});
  const std::string journal = read_file(folder / "run/journal.jsonl");
  // A kill in the middle of a write leaves half a line: ignored.
  write_file(folder / "run/journal.jsonl", journal + "{\"v\":1,\"seq\":");
  CHECK(check_with(folder).code == 0);
  // Half a line anywhere else is damage.
  const size_t second = journal.find('\n') + 1;
  write_file(folder / "run/journal.jsonl", journal.substr(0, second) + "{\"v\":1\n" + journal.substr(second));
  const Finished damaged = check_with(folder);
  CHECK(damaged.code == 4);
  CHECK_THAT(damaged.err, ContainsSubstring("journal.jsonl:2"));
  // So is a line whose content is not what its checksum says.
  std::string wrong = journal;
  const size_t digit = wrong.find("\"accuracy\":{\"value\":0.") + 22;
  wrong[digit] = wrong[digit] == '1' ? '2' : '1';
  write_file(folder / "run/journal.jsonl", wrong);
  CHECK(check_with(folder).code == 4);
  write_file(folder / "run/journal.jsonl", journal);
  write_file(folder / "newer.json", "{\"schema_version\":9}");
  const Finished newer = headprune_in(folder.path(), {"check", "run", "--baseline", "newer.json"});
  CHECK(newer.code == 2);
  CHECK_THAT(newer.err, ContainsSubstring("needs a newer headprune"));
}

TEST_CASE("report makes the same views elsewhere and leaves a moved run as it was", "[cli][report]") {
  const TestFolder folder;
  changed_run(folder, [](Json&) {});
  const Finished first = headprune_in(folder.path(), {"report", "run"});
  INFO(first.err);
  REQUIRE(first.code == 0);
  const auto written = fs::last_write_time(folder / "run/report.html");
  const Finished elsewhere = headprune_in(folder.path(), {"report", "run", "--to", "views"});
  CHECK(elsewhere.code == 0);
  for (const char* name :
       {"report.html", "report.md", "results.json", "metrics.json", "curve.csv", "plots/curve-accuracy.svg"}) {
    INFO(name);
    CHECK(read_file(folder / "views" / name) == read_file(folder / "run" / name));
  }
  CHECK(fs::last_write_time(folder / "run/report.html") == written);
  CHECK(headprune_in(folder.path(), {"report", "run", "run", "--to", "views"}).code == 2);
}

TEST_CASE("an archive that cannot be written to is reported elsewhere, also when it was moved", "[cli][report]") {
  const TestFolder folder;
  changed_run(folder, [](Json&) {});
  fs::rename(folder / "run", folder / "moved");
  const fs::path archive = folder / "archive";
  make_folders(archive);
  if (mount((folder / "moved").c_str(), archive.c_str(), nullptr, MS_BIND, nullptr) != 0 ||
      mount(nullptr, archive.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
    // Without the right to mount there is no superuser either, and permissions hold.
    fs::copy(folder / "moved", archive, fs::copy_options::recursive);
    fs::permissions(archive, fs::perms::owner_read | fs::perms::owner_exec);
  }
  const Finished refused = headprune_in(folder.path(), {"report", "archive"});
  CHECK(refused.code == 74);
  CHECK_THAT(refused.err, ContainsSubstring("cannot write into archive") && ContainsSubstring("--to DIR"));
  CHECK(headprune_in(folder.path(), {"check", "archive", "--baseline", gated().baseline.string()}).code == 74);
  const Finished elsewhere = headprune_in(folder.path(), {"report", "archive", "--to", "views"});
  INFO(elsewhere.err);
  CHECK(elsewhere.code == 0);
  CHECK(read_file(folder / "views/curve.csv") == read_file(gated().run / "curve.csv"));
  CHECK(fs::exists(folder / "views/tb"));
  const Finished checked =
      headprune_in(folder.path(), {"check", "archive", "--baseline", gated().baseline.string(), "--out", "gate"});
  CHECK(checked.code == 0);
  umount2(archive.c_str(), MNT_DETACH);
  fs::permissions(archive, fs::perms::owner_all);
}

TEST_CASE("numbers are exported whole or not at all", "[cli][export]") {
  const TestFolder folder;
  const std::string run = gated().run.string();
  for (const char* format : {"csv", "tensorboard"}) {
    const Finished made = headprune_in(folder.path(), {"export", format, run, "--to", format});
    INFO(made.err);
    CHECK(made.code == 0);
    CHECK(verify_manifest(folder / format).empty());
    CHECK(headprune_in(folder.path(), {"export", format, run, "--to", format}).code == 2);
  }
  CHECK(read_file(folder / "csv/curve.csv") == read_file(gated().run / "curve.csv"));
  // Where the folder cannot be made, nothing is left of it.
  write_file(folder / "file", "");
  CHECK(headprune_in(folder.path(), {"export", "csv", run, "--to", "file/inside"}).code == 2);
  const Finished mlflow = headprune_in(folder.path(), {"export", "mlflow", run});
  CHECK(mlflow.code == 2);
  CHECK_THAT(mlflow.err, ContainsSubstring("scripts/export-mlflow " + run));
  for (const std::string& name : folder.names()) CHECK(name.find(".tmp-") == std::string::npos);
}

TEST_CASE("report says where each value was set", "[cli][report]") {
  const std::string page = read_file(gated().run / "report.md");
  CHECK_THAT(page,
             ContainsSubstring("small.yaml:3:") && ContainsSubstring("[override:1:") && ContainsSubstring("[default]"));
}

TEST_CASE("the commands that read runs do not load LibTorch, and the others are handed over", "[cli]") {
  const TestFolder folder;
  fs::copy_file(HEADPRUNE_BINARY, folder / "headprune");
  const Finished alone = headprune_in(folder.path(), {"list", "scores"});
  CHECK(alone.code == 0);
  Program lonely({"check", gated().run.string()}, folder.path(), {}, folder / "headprune");
  CHECK(lonely.wait().code == 0);
  Program left({"list", "scores"}, folder.path(), {}, folder / "headprune");
  const Finished refused = left.wait();
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, ContainsSubstring("headprune-torch, which belongs beside headprune"));
}

TEST_CASE("a report that is killed half way leaves whole files", "[cli][report]") {
  const TestFolder folder;
  changed_run(folder, [](Json&) {});
  REQUIRE(headprune_in(folder.path(), {"report", "run"}).code == 0);
  std::map<std::string, std::string> before;
  for (const auto& entry : fs::recursive_directory_iterator(folder / "run")) {
    if (entry.is_regular_file() && entry.path().filename() != "log.txt")
      before[entry.path().string()] = read_file(entry.path());
  }
  for (int pause = 0; pause < 40; pause += 2) {
    Program program({"report", "run"}, folder.path());
    usleep(static_cast<useconds_t>(pause) * 4000);
    program.signal(SIGKILL);
    program.wait();
    for (const auto& [path, text] : before) {
      INFO(path);
      CHECK(read_file(path) == text);
    }
  }
}

TEST_CASE("compare shows what changed and is no gate", "[cli][compare]") {
  const TestFolder folder;
  changed_run(folder, [](Json& line) {
    if (is_base(line)) line["metrics"]["accuracy"]["value"] = 0.125;
  });
  const Finished finished = headprune_in(folder.path(), {"compare", gated().run.string(), "run"});
  INFO(finished.err);
  CHECK(finished.code == 0);
  CHECK_THAT(finished.out, ContainsSubstring("base/accuracy"));
  CHECK_THAT(finished.out, ContainsSubstring("0.125"));
  CHECK(finished.out.find("base/loss") == std::string::npos);
  const Finished all = headprune_in(folder.path(), {"compare", gated().run.string(), "run", "--all", "--md"});
  CHECK_THAT(all.out, ContainsSubstring("| base/loss |"));
  const Finished json = headprune_in(folder.path(), {"compare", gated().run.string(), "run", "--json"});
  CHECK(parse_json(json.out, "stdout")["differences"][0]["same_experiment"] == true);
  CHECK(headprune_in(folder.path(), {"compare", "run"}).code == 2);
}

TEST_CASE("the baselines of shipped experiments are of the experiments as they are", "[cli][gate]") {
  int64_t found = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(HEADPRUNE_SOURCE_DIR) / "experiments")) {
    const fs::path baseline = entry.path() / "expected.json", experiment = entry.path() / "experiment.yaml";
    if (!fs::exists(baseline)) continue;
    INFO(entry.path());
    const TestFolder folder;
    REQUIRE(headprune_in(folder.path(), {"run", experiment.string(), "--until", "data", "--out", "out"}).code == 0);
    // A new section of the configuration must not make every baseline, and every run that is to be continued,
    // another's.
    CHECK(json_of(folder / "out/run.json")["experiment_id"] == json_of(baseline)["experiment_id"]);
    ++found;
  }
  CHECK(found >= 2);
}

}  // namespace headprune
