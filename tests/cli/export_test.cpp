// Exporting points of a run through the real binary.
#include <regex>

#include "cli/program.h"
#include "core/json.h"
#include "record/framed_log.h"
#include "record/run_folder.h"
#include "support/catch.h"

namespace headprune {

namespace {

Json read_json(const fs::path& path) { return parse_json(read_file(path), path.string()); }

}  // namespace

TEST_CASE("export writes a pruned model that loads, and refuses what it cannot do", "[cli]") {
  const fs::path run = finished_run();
  const TestFolder scratch;
  std::string half, tuned;
  for (const Json& event : read_framed(run / kJournal).lines) {
    if (event["ev"] != "point_done" || !event["spec"].contains("sweep")) continue;
    if (event.contains("fine_tuned") && !event.contains("weights")) tuned = event["point"];
    if (event["spec"]["rule"] == "one_shot" && event["fraction"] == 0.5) half = event["point"];
  }
  REQUIRE_FALSE(half.empty());
  REQUIRE_FALSE(tuned.empty());
  const auto exported = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"export", run.string(), "--to", "out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return headprune_in(scratch.path(), arguments);
  };
  CHECK(exported({}).err.find("give --point ID") != std::string::npos);
  CHECK(exported({"--point", "nosuch"}).err.find("the run has no point nosuch") != std::string::npos);
  const Finished refused = exported({"--point", tuned});
  CHECK(refused.code == 4);
  CHECK(refused.err.find("set keep_weights: all in the sweep") != std::string::npos);
  CHECK_FALSE(fs::exists(scratch / "out"));
  const Finished finished = exported({"--point", half, "--json"});
  REQUIRE(finished.code == 0);
  const Json result = parse_json(finished.out, "export");
  CHECK(2 * result["heads"].get<int>() == result["intact_heads"]);
  CHECK(result["max_abs_diff"] < 1e-5);
  CHECK(read_json(scratch / "out/config.json").contains("headprune"));
  CHECK(headprune_in(scratch.path(), {"inspect", "out"}).code == 0);
  const Finished again = exported({"--point", half});
  CHECK(again.code == 2);
  CHECK(again.err.find("out exists") != std::string::npos);
}

TEST_CASE("a fine-tuned point that kept its weights is exported as it was measured", "[cli]") {
  const fs::path run = finished_run();
  const TestFolder scratch;
  std::vector<Json> kept;
  for (const Json& event : read_framed(run / kJournal).lines)
    if (event["ev"] == "point_done" && event.contains("weights")) kept.push_back(event);
  REQUIRE(kept.size() == 2);  // the last of one curve, in each seed
  const Json& point = kept.back();
  CHECK(point["fine_tuned"] == true);
  CHECK(read_json(run / point["weights"].get<std::string>() / "config.json").contains("headprune"));
  for (const char* form : {"compact", "zeroed"}) {
    INFO(form);
    const Finished finished = headprune_in(
        scratch.path(), {"export", run.string(), "--point", point["point"], "--form", form, "--to", form, "--json"});
    INFO(finished.err);
    REQUIRE(finished.code == 0);
    CHECK(parse_json(finished.out, "export")["max_abs_diff"] < 1e-5);
    const std::string seed = "seeds=[1]";  // of the data: those of the whole experiment
    std::string yaml =
        std::regex_replace(std::string(kSmallExperiment), std::regex("model: \\{[^}]*\\}"),
                           fmt::format("model: {{type: encoder, init: load, path: {}}}", (scratch / form).string()));
    yaml = std::regex_replace(yaml, std::regex("\n(train|score|prune|sensitivity|surgery):[^\n]*(\n +[^\n]*)*"), "");
    write_file(scratch / "again.yaml", yaml);
    const Finished again =
        headprune_in(scratch.path(), {"run", "again.yaml", seed, "--out", std::string(form) + "-run"});
    INFO(again.err);
    REQUIRE(again.code == 0);
    for (const Json& event : read_framed(scratch / (std::string(form) + "-run") / kJournal).lines) {
      if (event["ev"] != "point_done") continue;
      for (const char* metric : {"accuracy", "loss"}) {
        const double then = point["metrics"][metric]["value"], now = event["metrics"][metric]["value"];
        CHECK(std::abs(then - now) < 1e-5);
      }
    }
  }
  // A kept weight that changed since is noticed.
  fs::create_directory(scratch / "copy");
  fs::copy(run, scratch / "copy", fs::copy_options::recursive);
  CHECK(headprune_in(scratch.path(), {"runs", "info", "copy", "--verify"}).code == 0);
  const fs::path weights = scratch / "copy" / point["weights"].get<std::string>() / "model.safetensors";
  std::string bytes = read_file(weights);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_file(weights, bytes);
  CHECK(headprune_in(scratch.path(), {"runs", "info", "copy", "--verify"}).code == 4);
  CHECK(headprune_in(scratch.path(), {"export", "copy", "--point", point["point"], "--to", "damaged"}).code == 4);
}

}  // namespace headprune
