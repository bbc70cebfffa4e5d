#include "report/views.h"

#include "core/files.h"
#include "record/run_folder.h"
#include "report/fixture.h"
#include "report/results_json.h"
#include "support/catch.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

/// A run folder whose journal says what the record does.
fs::path written(const Record& record, const std::string& name) {
  const fs::path folder = fs::temp_directory_path() / ("headprune-views-" + name);
  fs::remove_all(folder);
  make_folders(folder);
  RunContext context;
  context.name = name;
  context.experiment_id = record.experiment_id;
  context.fingerprint = record.fingerprint;
  const std::string run_sha256 = write_run_context(folder, context);
  Journal journal(folder);
  journal.run_start(record.experiment_id, run_sha256);
  journal.env(record.fingerprint);
  journal.facts(*record.facts);
  for (const auto& [key, score] : record.scores) {
    for (const auto& [id, block] : score.blocks) journal.score(block);
    journal.score_done(*score.done);
  }
  for (const auto& [id, point] : record.points) {
    journal.point_start(id, point.spec);
    journal.point_done(point);
  }
  for (const auto& [id, result] : record.surgery) journal.surgery(result);
  for (const auto& [key, result] : record.timing) journal.timing(result);
  for (const Warning& warning : record.warnings) journal.warn(warning);
  if (record.done) journal.run_done(*record.done);
  return folder;
}

}  // namespace

TEST_CASE("views are rebuilt from the journal, byte for byte", "[views]") {
  const fs::path folder = written(two_seeds(), "rebuilt");
  write_views(folder);
  const Json results = parse_json(read_file(folder / "results.json"), "results.json");
  CHECK(results["state"] == "completed");
  CHECK(results["results"]["toy"]["accuracy,none"].get<double>() == Approx(0.85));
  std::vector<std::string> before;
  const std::vector<std::string> names = {"scores.csv", "curve.csv",          "sensitivity.csv", "agreement.csv",
                                          "timing.csv", "scores.safetensors", "metrics.json",    "results.json"};
  for (const std::string& name : names) {
    before.push_back(read_file(folder / name));
    fs::remove(folder / name);
  }
  write_views(folder);
  for (size_t i = 0; i < names.size(); ++i) CHECK(read_file(folder / names[i]) == before[i]);
  fs::remove_all(folder);
}

TEST_CASE("a run without an end has views that say so", "[views]") {
  Record record = one_seed();
  record.done.reset();
  const fs::path folder = written(record, "partial");
  write_views(folder);
  CHECK(parse_json(read_file(folder / "results.json"), "results.json")["state"] == "running");
  CHECK_THAT(read_file(folder / "curve.csv"), ContainsSubstring("1,gradient_l1,0,one_shot"));
  fs::remove_all(folder);
}

TEST_CASE("two journals of one experiment give equal results but for the times", "[views]") {
  const fs::path a = written(two_seeds(), "equal-a"), b = written(two_seeds(), "equal-b");
  for (const fs::path& folder : {a, b}) write_views(folder);
  const auto timeless = [](const fs::path& folder) {
    return dump_json(without_times(parse_json(read_file(folder / "results.json"), "results.json")));
  };
  CHECK(timeless(a) == timeless(b));
  CHECK(read_file(a / "metrics.json") == read_file(b / "metrics.json"));
  fs::remove_all(a);
  fs::remove_all(b);
}
