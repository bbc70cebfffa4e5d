// What a user meets: one command after another through the real binary.
#include <regex>

#include "cli/program.h"
#include "core/text.h"
#include "record/framed_log.h"
#include "record/journal.h"
#include "record/run_folder.h"
#include "support/catch.h"

namespace headprune {

namespace {

Json json_file(const fs::path& path) { return parse_json(read_file(path), path.string()); }

}  // namespace

TEST_CASE("a run leaves every file of its folder, and says completed", "[cli]") {
  const fs::path run = finished_run();
  for (const char* name : {"config.source.yaml",
                           "config.yaml",
                           "run.json",
                           "status.json",
                           "journal.jsonl",
                           "train.jsonl",
                           "log.txt",
                           "scores.csv",
                           "scores.safetensors",
                           "curve.csv",
                           "sensitivity.csv",
                           "agreement.csv",
                           "timing.csv",
                           "results.json",
                           "metrics.json",
                           "report.html",
                           "report.md",
                           "plots/curve-accuracy.svg",
                           "model/seed-1/config.json",
                           "model/seed-1/model.safetensors",
                           "train/seed-1/latest"}) {
    INFO(name);
    CHECK(fs::exists(run / name));
  }
  CHECK(json_file(run / "results.json")["state"] == "completed");
  CHECK(json_file(run / "status.json")["state"] == "completed");
  CHECK(read_file(run / "config.source.yaml") == kSmallExperiment);
  CHECK_FALSE(fs::exists(run / "train/seed-1/sweeps"));
  const Json results = json_file(run / "results.json");
  for (const Json& surgery : results["pruning"]["surgery"]) CHECK(surgery["ok"] == true);
  CHECK(results["pruning"]["surgery"].size() == 2);  // one a seed
}

TEST_CASE("all_but_one says which head it kept", "[cli]") {
  const fs::path run = finished_run();
  std::map<std::string, int64_t> kept;
  for (const Json& event : read_framed(run / kJournal).lines) {
    if (event["ev"] != "point_done" || event["spec"].value("table", "") != "all_but_one") continue;
    // Of two heads, the one that was not removed.
    const Json removed = event["removed"]["encoder"].begin().value();
    kept[event["point"].get<std::string>()] = 1 - removed[0].get<int64_t>();
  }
  REQUIRE(kept.size() == 4);  // 2 layers, 2 seeds
  bool other_than_first = false;
  const std::string table = read_file(run / "sensitivity.csv");
  const auto lines = split(table, '\n');
  for (const std::string_view line : lines) {
    const auto cells = split(line, ',');
    if (cells.size() < 6 || cells[1] != "all_but_one") continue;
    CHECK(std::string(cells[6]) == std::to_string(kept.at(std::string(cells.back()))));
    other_than_first |= cells[6] != "0";
  }
  CHECK(other_than_first);
}

TEST_CASE("running again continues a finished run without computing anything", "[cli]") {
  const fs::path run = finished_run();
  const auto before = lasting_results(run);
  const Finished again = headprune_in(run.parent_path().parent_path(), {"small.yaml"});
  CHECK(again.code == 0);
  CHECK(lasting_results(run) == before);
  CHECK(again.err.find("continuing") != std::string::npos);
  CHECK_FALSE(fs::exists(run.parent_path() / "small-2"));
}

TEST_CASE("the effective configuration of a run runs as it is, to the same results", "[cli]") {
  const fs::path run = finished_run();
  const TestFolder scratch;
  write_file(scratch / "config.yaml", read_file(run / "config.yaml"));
  const Finished finished = headprune_in(scratch.path(), {"run", "config.yaml", "--out", "copy"});
  INFO(finished.err);
  REQUIRE(finished.code == 0);
  CHECK(json_file(scratch / "copy/run.json")["experiment_id"] == json_file(run / "run.json")["experiment_id"]);
  CHECK(lasting_results(scratch / "copy") == lasting_results(run));
}

TEST_CASE("a changed experiment gets a folder of its own, and --out refuses another's with the difference", "[cli]") {
  const TestFolder home;  // a copy: other tests look at what stands beside the finished run
  write_file(home / "small.yaml", kSmallExperiment);
  fs::create_directory(home / "runs");
  fs::copy(finished_run(), home / "runs/small", fs::copy_options::recursive);
  const Finished other =
      headprune_in(home.path(), {"run", "small.yaml", "--out", "runs/small", "train.learning_rate=1e-3"});
  CHECK(other.code == 2);
  CHECK(other.err.find("train.learning_rate") != std::string::npos);
  const Finished changed =
      headprune_in(home.path(), {"run", "small.yaml", "train.max_steps=2", "seeds=[1]", "--until", "model"});
  INFO(changed.err);
  CHECK(changed.code == 0);
  CHECK(fs::exists(home / "runs/small-2/journal.jsonl"));
}

TEST_CASE("another fingerprint is exit 12, and --accept-fingerprint marks the results", "[cli]") {
  const TestFolder scratch;
  write_file(scratch / "small.yaml", kSmallExperiment);
  const std::vector<std::string> quick = {"run", "small.yaml", "--out", "out", "seeds=[1]", "--smoke"};
  REQUIRE(headprune_in(scratch.path(), quick).code == 0);
  std::vector<std::string> threads = quick;
  threads.push_back("runtime.threads=2");
  const Finished refused = headprune_in(scratch.path(), threads);
  CHECK(refused.code == 12);
  CHECK(refused.err.find("threads") != std::string::npos);
  threads.push_back("--accept-fingerprint");
  CHECK(headprune_in(scratch.path(), threads).code == 0);
  CHECK(json_file(scratch / "out/results.json")["mixed_fingerprint"] == true);
}

TEST_CASE("another number of bootstrap draws is exit 12 once points stand, or marks the results", "[cli]") {
  const TestFolder scratch;
  write_file(scratch / "small.yaml", kSmallExperiment);
  std::vector<std::string> more = {"run", "small.yaml", "--out", "out", "seeds=[1]", "--smoke"};
  REQUIRE(headprune_in(scratch.path(), more).code == 0);
  const std::string id = json_file(scratch / "out/results.json")["experiment_id"];
  more.push_back("report.bootstrap_iters=300");
  const Finished refused = headprune_in(scratch.path(), more);
  CHECK(refused.code == 12);
  CHECK(refused.err.find("report.bootstrap_iters was 200 and is now 300") != std::string::npos);
  more.push_back("--accept-fingerprint");
  REQUIRE(headprune_in(scratch.path(), more).code == 0);
  const Json results = json_file(scratch / "out/results.json");
  CHECK(results["experiment_id"] == id);
  CHECK(results["warnings"].dump().find("mixed_draws") != std::string::npos);
}

TEST_CASE("-j says how many cores compute, runtime.dtype with what; both stand in the fingerprint", "[cli]") {
  const TestFolder scratch;
  write_file(scratch / "small.yaml", kSmallExperiment);
  const Finished run = headprune_in(
      scratch.path(), {"run", "small.yaml", "--out", "out", "seeds=[1]", "-j", "2", "runtime.dtype=bfloat16"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const Json fingerprint = json_file(scratch / "out/run.json")["fingerprint"];
  CHECK(fingerprint["threads"] == 2);
  CHECK(fingerprint["dtype"] == "bfloat16");
  const Json surgery = json_file(scratch / "out/results.json")["pruning"]["surgery"];
  REQUIRE_FALSE(surgery.empty());
  for (const Json& forms : surgery) CHECK(forms["ok"] == true);  // compared in float32
  CHECK(headprune_in(scratch.path(), {"run", "small.yaml", "-j", "0"}).code == 2);
}

TEST_CASE("--until stops after a stage and a plain run goes on to the same results", "[cli]") {
  const TestFolder scratch;
  write_file(scratch / "small.yaml", kSmallExperiment);
  REQUIRE(headprune_in(scratch.path(), {"run", "small.yaml", "--out", "out", "--until", "score"}).code == 0);
  const Json partial = json_file(scratch / "out/results.json");
  CHECK(partial["state"] != "completed");
  CHECK(partial["pruning"]["curves"].empty());
  REQUIRE(headprune_in(scratch.path(), {"run", "small.yaml", "--out", "out"}).code == 0);
  CHECK(lasting_results(scratch / "out") == lasting_results(finished_run()));
  // And redone from a stage on, it finds the same again.
  const Finished redone = headprune_in(scratch.path(), {"run", "small.yaml", "--out", "out", "--from", "prune"});
  INFO(redone.err);
  REQUIRE(redone.code == 0);
  CHECK(lasting_results(scratch / "out") == lasting_results(finished_run()));
}

TEST_CASE("--dry-run and validate print points, passes and disk, and write nothing", "[cli]") {
  const TestFolder scratch;
  write_file(scratch / "small.yaml", kSmallExperiment);
  for (const char* command : {"validate", "run"}) {
    std::vector<std::string> arguments = {command, "small.yaml"};
    if (std::string(command) == "run") arguments.emplace_back("--dry-run");
    const Finished finished = headprune_in(scratch.path(), arguments);
    INFO(finished.err);
    CHECK(finished.code == 0);
    // Base 1; one_shot 4 points for each of gradient_l1, output_l2, entropy and two random draws; iterative 3 heads
    // one by one; leave_one_out 4, all_but_one 2, layer_removed 2, layer_curve 2 blocks x 5 curves x fractions
    // 0.25 (1 of 2: floor(0.5 + 0.5)), 0.5 (1), 0.75 (2), 1 (2): 2 points each; two seeds.
    CHECK(finished.out.find("points to evaluate") != std::string::npos);
    CHECK(finished.out.find("%) are random orders") != std::string::npos);
    CHECK_FALSE(fs::exists(scratch / "runs"));
  }
  const Finished plan = headprune_in(scratch.path(), {"validate", "small.yaml", "--json"});
  const int64_t planned = parse_json(plan.out, "plan")["points"].get<int64_t>();
  const Json status = json_file(finished_run() / "status.json");
  CHECK(planned == status["points"]["total"].get<int64_t>());
  CHECK(planned == status["points"]["done"].get<int64_t>());
}

TEST_CASE("--smoke goes through the whole flow with two points a sweep and table", "[cli]") {
  const TestFolder scratch;
  write_file(scratch / "small.yaml", kSmallExperiment);
  const Finished finished = headprune_in(scratch.path(), {"run", "small.yaml", "--smoke"});
  INFO(finished.err);
  REQUIRE(finished.code == 0);
  const Json results = json_file(scratch / "runs/small/results.json");
  CHECK(results["state"] == "completed");
  size_t points = 0;
  for (const Json& curve : results["pruning"]["curves"]) points += curve["points"].size();
  CHECK(points == 6);
}

TEST_CASE("starters run as they are: what init prints validates", "[cli]") {
  const TestFolder scratch;
  for (const char* task : {"classification", "regression"}) {
    const Finished starter = headprune_in(scratch.path(), {"init", "--task", task});
    REQUIRE(starter.code == 0);
    write_file(scratch / "my.yaml", starter.out);
    const Finished valid = headprune_in(scratch.path(), {"validate", "my.yaml"});
    INFO(valid.err);
    CHECK(valid.code == 0);
  }
}

TEST_CASE("list shows every plug-in with its options", "[cli]") {
  const TestFolder scratch;
  const std::pair<const char*, std::vector<const char*>> expected[] = {
      {"scores",
       {"ablation", "confidence", "entropy", "first_token", "fisher", "gradient_l1", "magnitude", "output_l2",
        "output_norm_ratio", "random", "redundancy", "shapley"}},
      {"rules",
       {"convert", "from_file", "greedy", "hard_concrete", "iterative", "mask_search", "one_shot", "retention_removal",
        "top_k"}},
      {"tasks", {"classification", "language_modelling", "multiple_choice", "regression", "translation"}},
      {"models",
       {"bert", "decoder", "distilbert", "encoder", "encoder_decoder", "gpt2", "llama", "marian", "mistral", "qwen2",
        "qwen3", "roberta"}},
      {"data", {"aligned", "choices", "synthetic", "text", "tsv"}}};
  for (const auto& [what, names] : expected) {
    const Finished listed = headprune_in(scratch.path(), {"list", what, "--json"});
    REQUIRE(listed.code == 0);
    const Json json = parse_json(listed.out, what);
    REQUIRE(json.size() == names.size());
    for (size_t i = 0; i < names.size(); ++i) CHECK(json[i]["name"] == names[i]);
    CHECK(headprune_in(scratch.path(), {"list", what}).out.find(names[0]) != std::string::npos);
  }
  CHECK(headprune_in(scratch.path(), {"list", "horses"}).code == 2);
}

TEST_CASE("config show says where values come from, and what it prints is a configuration", "[cli]") {
  const TestFolder scratch;
  write_file(scratch / "small.yaml", kSmallExperiment);
  const Finished origins =
      headprune_in(scratch.path(), {"config", "show", "small.yaml", "train.learning_rate=1e-5", "--origins"});
  CHECK(origins.code == 0);
  CHECK(origins.out.find("override:1:21") != std::string::npos);
  CHECK(origins.out.find("small.yaml:2:") != std::string::npos);
  CHECK(origins.out.find("1.0e-05") != std::string::npos);  // PyYAML would take 1e-05 for text
  const Finished all = headprune_in(scratch.path(), {"config", "show", "small.yaml", "--defaults"});
  write_file(scratch / "all.yaml", all.out);
  const Finished again = headprune_in(scratch.path(), {"config", "show", "all.yaml", "--defaults"});
  CHECK(again.code == 0);
  CHECK(again.out == all.out);
  const Finished schema = headprune_in(scratch.path(), {"config", "schema"});
  CHECK(parse_json(schema.out, "schema")["properties"].contains("sensitivity"));
}

TEST_CASE("inspect recognises what a run leaves, and says what is wrong with damage", "[cli]") {
  const fs::path run = finished_run();
  const TestFolder scratch;
  const std::pair<const char*, const char*> expected[] = {{"", "run folder"},
                                                          {"model/seed-1", "model folder"},
                                                          {"model/seed-1/model.safetensors", "safetensors file"},
                                                          {"scores.safetensors", "safetensors file"},
                                                          {"journal.jsonl", "journal"},
                                                          {"results.json", "results file"},
                                                          {"run.json", "context of a run"},
                                                          {"status.json", "status of a run"},
                                                          {"model/seed-1/manifest.json", "manifest"}};
  for (const auto& [name, kind] : expected) {
    const Finished inspected = headprune_in(scratch.path(), {"inspect", (run / name).string()});
    INFO(name << "\n" << inspected.err);
    CHECK(inspected.code == 0);
    CHECK(inspected.out.rfind(kind, 0) == 0);
  }
  fs::copy(run / "model/seed-1", scratch / "model");
  std::string bytes = read_file(scratch / "model/model.safetensors");
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_file(scratch / "model/model.safetensors", bytes);
  CHECK(headprune_in(scratch.path(), {"inspect", "model"}).code == 4);
  write_file(scratch / "short.safetensors", "abc");
  CHECK(headprune_in(scratch.path(), {"inspect", "short.safetensors"}).code == 4);
  CHECK(headprune_in(scratch.path(), {"inspect", "nothing"}).code == 2);
}

TEST_CASE("runs lists, describes, verifies and compares stored runs", "[cli]") {
  const fs::path run = finished_run();
  const fs::path home = run.parent_path().parent_path();
  CHECK(headprune_in(home, {"runs", "ls"}).out.find("small") != std::string::npos);
  const Finished info = headprune_in(home, {"runs", "info", "runs/small", "--verify"});
  INFO(info.out << info.err);
  CHECK(info.code == 0);
  CHECK(info.out.find("completed") != std::string::npos);
  CHECK(headprune_in(home, {"runs", "diff", "runs/small", "runs/small"}).code == 0);
  CHECK(headprune_in(home, {"runs", "info", "."}).code == 2);
}

TEST_CASE("a model trained in one run is loaded and trained on by another", "[cli]") {
  const fs::path model = finished_run() / "model/seed-1";
  const TestFolder scratch;
  std::string yaml = kSmallExperiment;
  yaml = std::regex_replace(yaml, std::regex("model: \\{[^}]*\\}"),
                            "model: {type: encoder, init: load, path: " + model.string() + "}");
  write_file(scratch / "more.yaml", yaml);
  const Finished finished =
      headprune_in(scratch.path(), {"run", "more.yaml", "seeds=[1]", "train.max_steps=3", "--smoke"});
  INFO(finished.err);
  CHECK(finished.code == 0);
  // By which a baseline knows what training began from.
  const Record record = read_record(scratch / "runs/small");
  CHECK(record.facts->model_sha256 == loaded_model_sha256(read_run_context(scratch / "runs/small").inputs));
  CHECK(record.facts->model_sha256.size() == 64);
}

TEST_CASE("usage errors are exit 2 with one sentence", "[cli]") {
  const TestFolder scratch;
  write_file(scratch / "small.yaml", kSmallExperiment);
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{"run"}, "FILE"},
      {{"run", "nothing.yaml"}, "nothing.yaml"},
      {{"run", "small.yaml", "small.yaml"}, "use extends"},
      {{"fly"}, "neither a command"},
      {{"run", "small.yaml", "--until", "lunch"}, "no stage"},
      {{"run", "small.yaml", "--retry", "all"}, "--retry"},
      {{"run", "small.yaml", "-m"}, "seeds=[1,2,3]"},
      {{"run", "small.yaml", "--set", "a=1"}, "key=value"},
      {{"run", "small.yaml", "+name=x"}, "name=x"},
      {{"run", "small.yaml", "runtime.device=tpu"}, "runtime.device"},
      {{"run", "small.yaml", "--max-failures", "0"}, "--max-failures"},
      {{"validate", "small.yaml", "--log-level", "loud"}, "loud"}};
  for (const auto& [arguments, words] : wrong) {
    const Finished finished = headprune_in(scratch.path(), arguments);
    INFO(finished.err);
    CHECK(finished.code == 2);
    CHECK(finished.err.find(words) != std::string::npos);
    CHECK(finished.out.empty());
    CHECK_FALSE(fs::exists(scratch / "runs"));
  }
  CHECK(headprune_in(scratch.path(), {"--version"}).out.find("LibTorch") != std::string::npos);
  CHECK(headprune_in(scratch.path(), {"run", "--help"}).out.find("Examples") != std::string::npos);
}

TEST_CASE("bad data are exit 4 with file and line, before anything is written", "[cli]") {
  const TestFolder scratch;
  fs::create_directory(scratch / "data");
  write_file(scratch / "data/train.tsv", "good film\t1\nbad film\t0\nno label here\n");
  write_file(scratch / "data/dev.tsv", "good\t1\nbad\t0\n");
  write_file(scratch / "data/test.tsv", "good\t1\nbad\t0\n");
  std::string yaml = kSmallExperiment;
  yaml = std::regex_replace(yaml, std::regex("data: .*"), "data: {type: tsv, path: data}");
  write_file(scratch / "tsv.yaml", yaml);
  const Finished finished = headprune_in(scratch.path(), {"run", "tsv.yaml"});
  CHECK(finished.code == 4);
  CHECK(finished.err.find("train.tsv:3:") != std::string::npos);
  CHECK_FALSE(fs::exists(scratch / "runs"));
}

}  // namespace headprune
