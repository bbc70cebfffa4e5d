#include "report/views.h"

#include "core/files.h"
#include "report/fixture.h"
#include "report/stored_run.h"
#include "report/tables/results_json.h"
#include "support/catch.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

fs::path written(const Record& record, const std::string& name) {
  const fs::path folder = fs::temp_directory_path() / ("headprune-views-" + name);
  fs::remove_all(folder);
  store_run(folder, record);
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
  const std::vector<std::string> names = {"scores.csv",
                                          "curve.csv",
                                          "sensitivity.csv",
                                          "agreement.csv",
                                          "timing.csv",
                                          "metrics.json",
                                          "results.json",
                                          "report.md",
                                          "report.html",
                                          "scores.safetensors",
                                          "plots/curve-accuracy.svg",
                                          "plots/timing.svg"};
  for (const std::string& name : names) {
    before.push_back(read_file(folder / name));
    fs::remove(folder / name);
  }
  write_views(folder);
  for (size_t i = 0; i < names.size(); ++i) CHECK(read_file(folder / names[i]) == before[i]);
  fs::remove_all(folder);
}

TEST_CASE("views can be made elsewhere, and name every figure that they link to", "[views]") {
  const fs::path folder = written(two_seeds(), "elsewhere"), to = folder.string() + "-to";
  fs::remove_all(to);
  write_views(folder, to);
  CHECK_FALSE(fs::exists(folder / "report.html"));
  const std::string markdown = read_file(to / "report.md");
  size_t links = 0;
  for (size_t at = markdown.find("](plots/"); at != std::string::npos; at = markdown.find("](plots/", at + 1)) {
    const size_t start = at + 2;
    CHECK(fs::exists(to / markdown.substr(start, markdown.find(')', start) - start)));
    ++links;
  }
  CHECK(links == 8);
  fs::remove_all(folder);
  fs::remove_all(to);
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

TEST_CASE("only the views that the experiment asks for are written", "[views]") {
  Record record = two_seeds();
  record.facts->formats = {"md"};
  const fs::path folder = written(record, "formats");
  write_views(folder);
  CHECK(fs::exists(folder / "results.json"));
  for (const char* name : {"report.html", "plots", "tb"}) CHECK_FALSE(fs::exists(folder / name));
  const std::string markdown = read_file(folder / "report.md");
  CHECK_THAT(markdown, ContainsSubstring("# headprune-views-formats"));
  CHECK(markdown.find("plots/") == std::string::npos);
  fs::remove_all(folder);
}

TEST_CASE("an existing tb/ is left alone, since a run writes it while it goes on", "[views]") {
  const fs::path folder = written(two_seeds(), "tb");
  fs::create_directory(folder / "tb");
  write_views(folder);
  CHECK(fs::is_empty(folder / "tb"));
  fs::remove(folder / "tb");
  write_views(folder);
  CHECK(verify_manifest(folder / "tb").empty());
  fs::remove_all(folder);
}
