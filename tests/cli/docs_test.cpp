// docs/ names what the program has: scores, rules, tables, metrics, exit codes, CSV columns, metric keys, events.
#include <algorithm>
#include <regex>
#include <set>

#include "cli/program.h"
#include "core/text.h"
#include "record/framed_log.h"
#include "record/run_folder.h"
#include "support/catch.h"
#include "support/folder.h"

namespace headprune {

namespace {

using Names = std::set<std::string>;

std::string document(const std::string& name) { return read_file(fs::path(HEADPRUNE_SOURCE_DIR) / name); }

/// The lines under a heading, up to the next one.
std::vector<std::string> section(const std::string& name, const std::string& heading) {
  std::vector<std::string> lines;
  bool inside = false;
  const std::string text = document(name);
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("#")) inside = line == "## " + heading;
    if (inside) lines.emplace_back(line);
  }
  REQUIRE_FALSE(lines.empty());
  return lines;
}

/// What stands between backticks in the first column of a section's tables, table by table; without any, the cells.
std::vector<Names> tables(const std::vector<std::string>& lines) {
  static const std::regex quoted("`([^`]+)`");
  std::vector<Names> found;
  int64_t row = 0;
  for (const std::string& line : lines) {
    row = line.starts_with("| ") ? row + 1 : 0;
    if (row == 1) found.emplace_back();
    if (row < 3) continue;  // the header, and the line below it
    const std::string cell = line.substr(2, line.find(" |", 2) - 2);
    const std::sregex_iterator begin(cell.begin(), cell.end(), quoted), end;
    for (auto match = begin; match != end; ++match) found.back().insert((*match)[1]);
    if (begin == end) found.back().insert(cell);
  }
  return found;
}

Names first_table(const std::string& heading) { return tables(section("docs/definitions.md", heading)).at(0); }

Json output_of(const std::vector<std::string>& arguments) {
  const TestFolder folder;
  const Finished done = headprune_in(folder.path(), arguments);
  REQUIRE(done.code == 0);
  return parse_json(done.out, "stdout");
}

Names listed(const std::string& what) {
  Names names;
  for (const Json& one : output_of({"list", what, "--json"})) names.insert(one["name"].get<std::string>());
  return names;
}

Names words(const Json& list) {
  const auto all = list.get<std::vector<std::string>>();
  return {all.begin(), all.end()};
}

}  // namespace

TEST_CASE("docs/definitions.md has the scores, rules, tables and metrics of the program", "[cli][docs]") {
  CHECK(first_table("Scores") == listed("scores"));
  CHECK(first_table("Analyses") == listed("analyses"));
  CHECK(first_table("Orders and pruning rules") == listed("rules"));
  const Json schema = output_of({"config", "schema"})["properties"];
  CHECK(first_table("Sensitivity tables") == words(schema["sensitivity"]["properties"]["tables"]["items"]["enum"]));
  CHECK(first_table("Normalisation") == Names{"none", "layer_l2", "global_minmax"});
  Names metrics;
  for (const Json& task : schema["task"]["allOf"])
    metrics.merge(words(task["then"]["properties"]["metrics"]["items"]["enum"]));
  CHECK(first_table("Metrics") == metrics);
}

TEST_CASE("docs/formats.md has the exit codes and sections of the program", "[cli][docs]") {
  const std::string source = read_file(fs::path(HEADPRUNE_SOURCE_DIR) / "src/core/error.h");
  static const std::regex code("\n  [a-z_]+ = ([0-9]+),");
  Names codes;
  for (std::sregex_iterator match(source.begin(), source.end(), code), end; match != end; ++match)
    codes.insert((*match)[1]);
  CHECK(tables(section("docs/formats.md", "2. Command line")).at(1) == codes);

  std::string sections = join(section("docs/formats.md", "3. Experiment YAML"), "\n");
  sections = sections.substr(sections.find("Sections: `") + 11);
  const std::string named = sections.substr(0, sections.find('`'));
  Names documented;
  for (const std::string_view word : split(named, ' ')) documented.emplace(word);
  const Json schema = output_of({"config", "schema"});
  Names sections_of_schema;
  for (const auto& [key, value] : schema["properties"].items()) sections_of_schema.insert(key);
  for (const char* file_only : {"extends", "schema_version"}) sections_of_schema.erase(file_only);
  CHECK(documented == sections_of_schema);
}

TEST_CASE("docs/formats.md has the columns, metric keys and events of a run", "[cli][docs]") {
  const fs::path run = finished_run();
  const std::vector<std::string> lines = section("docs/formats.md", "8. CSV files");
  Names documented, written;
  for (size_t i = 0; i + 3 < lines.size(); ++i) {
    if (!lines[i].ends_with(".csv") || lines[i + 2] != "```") continue;
    INFO(lines[i]);
    documented.insert(lines[i]);
    const std::string file = read_file(run / lines[i]);
    CHECK(lines[i + 3] == file.substr(0, file.find('\n')));
  }
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    const std::string name = fs::relative(entry.path(), run).string();
    // Of analyses, whose files have the same columns, one is documented.
    if (name.ends_with(".csv") && name != "analysis/special.csv") written.insert(name);
  }
  CHECK(documented == written);

  Names families, events = tables(section("docs/formats.md", "7. Run folder")).at(0);
  const Names keys = tables(section("docs/formats.md", "1. Rules for every file")).at(0);
  for (const std::string& key : keys) families.insert(key.substr(0, key.find('/')));
  const Json metrics = parse_json(read_file(run / "metrics.json"), "metrics.json");
  for (const auto& [key, value] : metrics.items()) {
    INFO(key);
    CHECK(families.contains(key.substr(0, key.find('/'))));
  }
  for (const Json& event : read_framed(run / kJournal).lines) {
    const auto ev = event["ev"].get<std::string>();
    INFO(ev);
    CHECK(events.contains(ev));
  }
}

}  // namespace headprune
