// What comes with the program: parts in configs/, experiments that extend them, what `init` makes of these, and the
// words that a shell is offered.
#include <algorithm>

#include "cli/program.h"
#include "core/text.h"
#include "support/catch.h"

namespace headprune {

namespace {

const std::string kPrefix = "headprune:";

/// "headprune:configs/train/fine_tune.yaml" and so on.
std::vector<std::string> names_below(const std::string& folder) {
  const fs::path root = HEADPRUNE_SOURCE_DIR;
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder))
    if (entry.path().extension() == ".yaml") names.push_back(kPrefix + entry.path().lexically_relative(root).string());
  return names;
}

/// Folders and files for what the shipped experiments are told by variables.
class Inputs {
 public:
  Inputs() {
    folder_.write("text.txt", "a");
    folder_.write("pud.conllu", "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n");
    const std::string golden = std::string(HEADPRUNE_SOURCE_DIR) + "/tests/golden/hf/";
    for (const char* name : {"SST2", "COLA", "MULTI30K"}) variables_.push_back(name + ("=" + folder_.path().string()));
    for (const char* name : {"TEXT", "SHAKESPEARE"}) variables_.push_back(name + ("=" + path("text.txt")));
    variables_.push_back("PUD=" + path("pud.conllu"));
    for (const char* name : {"MINILM", "CLASSIFIER"}) variables_.push_back(name + ("=" + golden + "bert_classifier"));
    variables_.push_back("GPT2=" + golden + "gpt2_lm");
    variables_.push_back("SMOLLM2=" + golden + "llama");
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  Finished headprune(const std::vector<std::string>& words) const {
    return headprune_in(folder_.path(), words, variables_);
  }
  std::string write(const std::string& name, const std::string& text) const {
    folder_.write(name, text);
    return name;
  }

 private:
  TestFolder folder_;
  std::vector<std::string> variables_;
};

std::vector<std::string> offered(const std::vector<std::string>& words) {
  const TestFolder folder;
  std::vector<std::string> arguments = {"complete", "--"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  const Finished finished = headprune_in(folder.path(), arguments);
  CHECK(finished.code == 0);
  std::vector<std::string> found;
  for (const std::string_view line : split(finished.out, '\n'))
    if (!line.empty()) found.emplace_back(line);
  return found;
}

}  // namespace

TEST_CASE("every part can be extended, says where its values are from, and is used and listed", "[cli]") {
  const Inputs inputs;
  inputs.write("base.yaml",
               "name: base\ndata: {type: synthetic}\ntask: {type: classification}\n"
               "model: {type: encoder, layers: 2, heads: 2}\ntrain: {max_steps: 2}\nscore: {methods: [entropy]}\n");
  std::string experiments;
  for (const std::string& name : names_below("experiments"))
    experiments += read_file(fs::path(HEADPRUNE_SOURCE_DIR) / name.substr(kPrefix.size()));
  const std::string listed = inputs.headprune({"list", "configs"}).out;
  const std::vector<std::string> parts = names_below("configs");
  CHECK(parts.size() >= 8);
  for (const std::string& part : parts) {
    INFO(part);
    const std::string file = inputs.write("my.yaml", "extends: [base.yaml, " + part + "]\nname: my\n");
    std::vector<std::string> words = {"config", "show", file, "--origins", "--defaults"};
    if (part.ends_with("data/sentences.yaml")) words.push_back("data.path=.");
    if (part.ends_with("data/text.yaml")) words.insert(words.end(), {"data.path=text.txt", "model.type=decoder"});
    const Finished shown = inputs.headprune(words);
    INFO(shown.err);
    CHECK(shown.code == 0);
    CHECK_THAT(shown.out, ContainsSubstring("[" + part + ":2:"));
    CHECK_THAT(experiments, ContainsSubstring("- " + part + "\n") || ContainsSubstring(", " + part + "]"));
    CHECK_THAT(listed, ContainsSubstring(part + "\n    "));
  }
}

TEST_CASE("every shipped experiment loads, by its path and by its name from anywhere", "[cli]") {
  const Inputs inputs;
  const std::vector<std::string> names = names_below("experiments");
  CHECK(names.size() >= 10);
  for (const std::string& name : names) {
    const std::string path = std::string(HEADPRUNE_SOURCE_DIR) + "/" + name.substr(kPrefix.size());
    const Finished by_path = inputs.headprune({"config", "show", path, "--json"});
    INFO(name << "\n" << by_path.err);
    CHECK(by_path.code == 0);
    CHECK(inputs.headprune({"config", "show", name, "--json"}).out == by_path.out);
  }
}

TEST_CASE("init prints the experiment and its parts as one file that means the same", "[cli]") {
  const Inputs inputs;
  const std::pair<const char*, const char*> starters[] = {{"classification", "quickstart"},
                                                          {"regression", "regression"},
                                                          {"sst2", "sst2-scratch"},
                                                          {"language_modelling", "shakespeare"}};
  for (const auto& [task, experiment] : starters) {
    INFO(task);
    const Finished starter = inputs.headprune({"init", "--task", task});
    REQUIRE(starter.code == 0);
    CHECK_THAT(starter.out, !ContainsSubstring("extends:"));
    CHECK_THAT(starter.out, ContainsSubstring("\n# "));
    for (const std::string_view line : split(starter.out, '\n')) CHECK(line.size() <= 130);
    const std::string file = inputs.write("my.yaml", starter.out);
    const std::string name = fmt::format("{}experiments/{}/experiment.yaml", kPrefix, experiment);
    const Finished mine = inputs.headprune({"config", "show", file, "--json"});
    CHECK(mine.code == 0);
    CHECK(mine.out == inputs.headprune({"config", "show", name, "--json"}).out);
  }
  CHECK(inputs.headprune({"init", "--task", "dancing"}).code == 2);
  CHECK(inputs.headprune({"init", "--model", "decoder"}).code == 2);
}

TEST_CASE("a name that does not come with the program is answered with the places and the name that was meant",
          "[cli]") {
  const Inputs inputs;
  const std::string file = inputs.write("my.yaml",
                                        "extends: [headprune:configs/train/fine_tun.yaml, headprune:../x.yaml, "
                                        "configs/train/fine_tune.yaml]\nname: my\n");
  const Finished wrong = inputs.headprune({"validate", file});
  CHECK(wrong.code == 2);
  const std::string build = fs::path(HEADPRUNE_BINARY).parent_path().string();
  CHECK_THAT(wrong.err, ContainsSubstring("my.yaml:1:11: extends.0: 'headprune:configs/train/fine_tun.yaml' does not "
                                          "come with this headprune; looked in " +
                                          build + "/share/headprune and "));
  CHECK_THAT(wrong.err, ContainsSubstring("did you mean 'headprune:configs/train/fine_tune.yaml'?"));
  CHECK_THAT(wrong.err, ContainsSubstring("extends.1: 'headprune:../x.yaml' names no file: write headprune:configs/"));
  CHECK_THAT(wrong.err,
             ContainsSubstring("the one that comes with headprune is 'headprune:configs/train/fine_tune.yaml'"));
  CHECK(inputs.headprune({"run", "headprune:experiments/none.yaml"}).code == 2);
}

TEST_CASE("shells are offered commands, options, keys and the names of plug-ins", "[cli]") {
  using Words = std::vector<std::string>;
  CHECK(offered({"va"}) == Words{"validate"});
  const Words verbs = offered({""});
  CHECK(std::find(verbs.begin(), verbs.end(), "run") != verbs.end());
  CHECK(std::find(verbs.begin(), verbs.end(), "complete") == verbs.end());  // not for people
  CHECK(offered({"config", "sh"}) == Words{"show"});
  CHECK(offered({"run", "--unt"}) == Words{"--until"});
  CHECK(offered({"runs", "ls", "--js"}) == Words{"--json"});
  CHECK(offered({"run", "my.yaml", "train.learn"}) == Words{"train.learning_rate="});
  CHECK(offered({"my.yaml", "sens"}) == Words{"sensitivity."});
  CHECK(offered({"validate", "my.yaml", "model.type=g"}) == Words{"model.type=gpt2"});
  CHECK(offered({"run", "my.yaml", "score.methods=[entropy,gra"}) == Words{"score.methods=[entropy,gradient_l1"});
  CHECK(offered({"run", "my.yaml", "output.samples=t"}) == Words{"output.samples=true"});
  CHECK(offered({"list", "sc"}) == Words{"scores"});
  CHECK(offered({"run", "headprune:experiments/qu"}) == Words{"headprune:experiments/quickstart/experiment.yaml"});
  CHECK(offered({"run", ""}).empty());  // files
}

}  // namespace headprune
