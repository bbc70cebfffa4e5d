#include "record/runs.h"

#include <fstream>

#include "core/error.h"
#include "core/files.h"
#include "core/hash.h"
#include "record/samples.h"
#include "support/catch.h"
#include "support/folder.h"

using namespace headprune;

namespace {

/// A completed run with a model and samples of one point.
void make_run(const fs::path& folder, const std::string& id, int threads) {
  fs::create_directories(folder);
  RunContext context;
  context.name = "quick";
  context.experiment_id = id;
  context.created = "2026-01-02T03:04:05.678Z";
  context.tool = {{"version", "0.1.0"}, {"git", id}};
  context.host = Json::object();
  context.fingerprint = {{"threads", threads}};
  const std::string config = "name: quick\nid: " + id + "\n";
  write_file(folder / kConfig, config);
  const std::string run_sha = write_run_context(folder, context);
  FolderWriter model(folder / "model");
  model.write("weights", "12345");
  const std::string manifest = model.commit();

  Journal journal(folder);
  journal.run_start(id, run_sha);
  journal.config(sha256(config));
  journal.model({1, 10, "model", manifest});
  PointResult point;
  point.spec.rule = "none";
  point.point = point_id(id, point.spec);
  Sample sample;
  sample.doc_id = 3;
  sample.doc_hash = "ab";
  sample.target = 1;
  sample.pred = 0;
  sample.correct = false;
  sample.loss = 0.5;
  sample.logits = {0.25, -1.0};
  point.samples_sha256 = write_samples(folder, point.point, {sample});
  journal.point_done(point);
  journal.run_done({"completed", {1, 1, 0, 0}, 1.0});
  StatusFile status(folder, 1);
  status.set_points({1, 1, 0, 0});
  status.set_state(RunState::completed);
}

}  // namespace

TEST_CASE("runs are listed by name with their state", "[record]") {
  const TestFolder dir;
  make_run(dir.path() / "b", "exp-b", 1);
  make_run(dir.path() / "a", "exp-a", 1);
  fs::create_directories(dir.path() / "notes");
  write_file(dir.path() / "b" / kStatusJson, "{\"state\":");
  const std::vector<RunSummary> runs = list_runs(dir.path());
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].name == "a");
  CHECK(runs[0].state == "completed");
  CHECK(runs[0].experiment_id == "exp-a");
  CHECK(runs[0].points.done == 1);
  CHECK(runs[0].problem.empty());
  CHECK_THAT(runs[1].problem, ContainsSubstring(kStatusJson));
  CHECK_THROWS_AS(summarize_run(dir.path() / "notes"), Error);
  CHECK_THROWS_AS(list_runs(dir.path() / "none"), Error);
}

TEST_CASE("verify finds every changed byte and accepts a copy without the model", "[record]") {
  const TestFolder dir;
  const fs::path run = dir.path() / "a";
  make_run(run, "exp", 1);
  CHECK(verify_run(run).empty());
  std::ofstream(run / "model" / "weights", std::ios::binary) << "12346";
  REQUIRE(verify_run(run).size() == 1);
  CHECK_THAT(verify_run(run)[0], ContainsSubstring("model") && ContainsSubstring("weights"));
  fs::remove_all(run / "model");
  CHECK(verify_run(run).empty());
  std::ofstream(run / kConfig, std::ios::app) << "#";
  REQUIRE(verify_run(run).size() == 1);
  CHECK_THAT(verify_run(run)[0], ContainsSubstring(kConfig));
  fs::remove_all(run / kSamples);
  CHECK(verify_run(run).size() == 2);
}

TEST_CASE("samples have the fields of docs/formats.md section 7", "[record]") {
  const TestFolder dir;
  make_run(dir.path() / "a", "exp", 1);
  for (const auto& entry : fs::directory_iterator(dir.path() / "a" / kSamples)) {
    CHECK(read_file(entry.path()) ==
          R"({"doc_id":3,"doc_hash":"ab","target":1,"pred":0,"correct":false,"loss":0.5,"logits":[0.25,-1.0]})"
          "\n");
  }
}

TEST_CASE("two runs are compared by configuration, inputs, fingerprint and tool", "[record]") {
  const TestFolder dir;
  make_run(dir.path() / "a", "exp-a", 1);
  make_run(dir.path() / "b", "exp-b", 2);
  const RunDifferences differences = diff_runs(dir.path() / "a", dir.path() / "b");
  CHECK_FALSE(differences.same_experiment);
  CHECK(differences.config == std::vector<std::string>{"id: exp-a -> exp-b"});
  CHECK(differences.inputs.empty());
  CHECK(differences.fingerprint == std::vector<std::string>{"threads: 1 -> 2"});
  CHECK(differences.tool == std::vector<std::string>{R"(git: "exp-a" -> "exp-b")"});
  CHECK(diff_runs(dir.path() / "a", dir.path() / "a").same_experiment);
}
