#include "report/tables/runs_text.h"

#include "support/catch.h"

using namespace headprune;

namespace {

RunSummary summary() {
  RunSummary run;
  run.path = "runs/toy";
  run.name = "toy";
  run.experiment_id = "0123456789abcdef0123";
  run.state = "partial";
  run.stage = "results";
  run.points = {10, 8, 1, 1};
  run.created = "2026-01-02T03:04:05.678Z";
  return run;
}

}  // namespace

TEST_CASE("runs ls prints one line a run and the problems of unreadable ones", "[runs_text]") {
  RunSummary broken;
  broken.name = "broken";
  broken.problem = "journal.jsonl:3: bad line";
  CHECK(runs_table({summary(), broken}, 120) ==
        "name    state       stage    points                     created                   experiment\n"
        "toy     partial     results  8/10, 1 failed, 1 skipped  2026-01-02T03:04:05.678Z  0123456789ab\n"
        "broken  unreadable           0/0\n"
        "broken: journal.jsonl:3: bad line\n");
  CHECK(runs_table({}, 80) == "no runs\n");
}

TEST_CASE("runs info prints state and context, and the outcome of --verify only when asked", "[runs_text]") {
  RunContext context;
  context.tool = {{"version", "0.1.0"}, {"git", "abc1234"}, {"dirty", true}};
  context.host = {{"name", "node1"}, {"cpu", "some cpu"}};
  context.argv = {"headprune", "run", "x.yaml"};
  context.inputs = Json::array();
  context.inputs.push_back({{"role", "data.train"}, {"path", "/data/train.tsv"}, {"sha256", "aabbccddeeff0011"}});
  context.fingerprint = {{"threads", 1}, {"device", "cpu"}};
  const std::string text = run_info_text(summary(), context, std::nullopt);
  CHECK(text ==
        "run          runs/toy\n"
        "state        partial\n"
        "stage        results\n"
        "points       8/10, 1 failed, 1 skipped\n"
        "created      2026-01-02T03:04:05.678Z\n"
        "experiment   0123456789abcdef0123\n"
        "tool         headprune 0.1.0 (abc1234, with changes)\n"
        "host         node1, some cpu\n"
        "command      headprune run x.yaml\n"
        "data.train   /data/train.tsv (aabbccddeeff)\n"
        "fingerprint  threads 1, device cpu\n");
  using Problems = std::vector<std::string>;
  CHECK(run_info_text(summary(), context, Problems()) == text + "verified: every digest is right\n");
  CHECK(run_info_text(summary(), context, Problems{"model/ is damaged"}) == text + "problem: model/ is damaged\n");
}

TEST_CASE("runs diff says what differs, or that nothing does", "[runs_text]") {
  RunDifferences differences;
  differences.same_experiment = true;
  CHECK(run_diff_text(differences) == "the runs have the same configuration, inputs, fingerprint and tool\n");
  differences.config = {"train.learning_rate: 0.0001 -> 0.001"};
  differences.same_experiment = false;
  CHECK(run_diff_text(differences) ==
        "configuration\n  train.learning_rate: 0.0001 -> 0.001\ntwo experiments: their ids differ\n");
  // Of one experiment too, numbers may differ by where they were computed.
  differences = {};
  differences.same_experiment = true;
  differences.fingerprint = {"threads: 1 -> 2"};
  CHECK_THAT(run_diff_text(differences), ContainsSubstring("one experiment under other circumstances"));
}
