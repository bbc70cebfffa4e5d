// Several files as one text, and the overrides that a shell is offered.
#include "config/flatten.h"

#include "config/complete.h"
#include "support/catch.h"
#include "support/folder.h"
#include "zoo.h"

namespace headprune::zoo {

namespace {

std::string flat(const fs::path& file, const std::vector<std::string>& order) {
  Problems problems;
  Environment environment;
  const ConfigLayers layers = read_layers(file, problems, environment);
  problems.throw_if_any();
  return flat_yaml(layers, order);
}

std::vector<std::string> offered(const std::string& word) {
  Experiment untouched;
  detail::BoundSection<Experiment> root(untouched);
  return complete_override(root, word);
}

}  // namespace

TEST_CASE("a file and what it extends become one text with the comments of both", "[config]") {
  const TestFolder folder;
  folder.write("part.yaml",
               "# Of the part.\ntrain:\n  learning_rate: 2e-3  # high\n  # Of one key.\n  warmup_ratio: 0.1\n"
               "data: {type: tsv, path: \"${env:HOME}\", max_length: 9}\n");
  const fs::path file =
      folder.write("e.yaml",
                   "# The experiment.\nextends: [part.yaml]\nname: \"010\"\n\n# Mine, with a # in it.\n"
                   "train: {max_steps: 3, warmup_ratio: 0.2}\n"
                   "score:\n  methods:\n    # The first.\n    - random: {draws: 2}\n    - entropy\n"
                   "data: {type: synthetic, pattern: \"a, b\"}\n");
  CHECK(flat(file, {"name", "data", "train"}) ==
        "# The experiment.\nname: \"010\"\ndata: {type: synthetic, pattern: \"a, b\"}\n\n"
        "# Of the part.\n# Mine, with a # in it.\ntrain:\n  learning_rate: 2e-3  # high\n  # Of one key.\n"
        "  warmup_ratio: 0.2\n  max_steps: 3\n\n"
        "score:\n  methods:\n    # The first.\n    - random: {draws: 2}\n    - entropy\n");
}

TEST_CASE("one text means what the files mean", "[config]") {
  const TestFolder folder;
  folder.write("table.tsv", "a\tb\n");
  folder.write("part.yaml",
               "data: {type: tsv, path: table.tsv, header: false}\nseeds: [1, 2]\ntrain: {max_steps: 7}\n");
  const fs::path file = folder.write("e.yaml",
                                     "extends: [part.yaml]\nname: x\ndata: {max_length: 5}\nseeds: [3]\n"
                                     "score: {methods: [{random: {draws: 2, label: chance}}, entropy]}\n"
                                     "train:\n  max_steps: null\n  freeze: []\n");
  const fs::path one = folder.write("one.yaml", flat(file, {}));
  CHECK(config_json(load_config<Experiment>(one).value) == config_json(load_config<Experiment>(file).value));
}

TEST_CASE("overrides go on step by step", "[config]") {
  using Words = std::vector<std::string>;
  CHECK(offered("tr") == Words{"train."});
  CHECK(offered("train.max") == Words{"train.max_steps="});
  CHECK(offered("train.lr_scheduler_type=co") ==
        Words{"train.lr_scheduler_type=constant", "train.lr_scheduler_type=cosine"});
  CHECK(offered("data.ty") == Words{"data.type="});
  CHECK(offered("data.type=") == Words{"data.type=synthetic", "data.type=tsv"});
  CHECK(offered("data.p") == Words{"data.path=", "data.pattern="});  // of every type
  CHECK(offered("train.shuffle=") == Words{"train.shuffle=false", "train.shuffle=true"});
  CHECK(offered("score.methods=ran").empty());  // a list begins with [
  CHECK(offered("score.methods=[ran") == Words{"score.methods=[random"});
  CHECK(offered("train.learning_rate=").empty());
  CHECK(offered("nothing.").empty());
}

TEST_CASE("a shipped name is looked for from the executable's place", "[config]") {
  const TestFolder folder;
  const fs::path program = program_folder();
  const fs::path file = folder.write("e.yaml", "extends: [\"headprune:configs/x.yaml\"]\nname: x\n");
  try {
    load_config<Experiment>(file);
    FAIL("no error");
  } catch (const ConfigError& error) {
    CHECK_THAT(error.what(),
               ContainsSubstring("'headprune:configs/x.yaml' does not come with this headprune; looked in " +
                                 (program / "share/headprune").string() + " and " +
                                 (program.parent_path() / "share/headprune").string()));
  }
}

}  // namespace headprune::zoo
