// What a run says of its data, and which of its outputs is which label, through the real binary.
#include <regex>

#include "cli/program.h"
#include "core/json.h"
#include "record/framed_log.h"
#include "record/run_folder.h"
#include "support/catch.h"

namespace headprune {

namespace {

const std::string kYaml = R"yaml(name: small
data: {type: tsv, path: data}
task: {type: classification, metrics: [accuracy, matthews]}
model: {type: encoder, d_model: 16, layers: 2, heads: 2, dropout: 0}
train: {max_steps: 3, per_device_train_batch_size: 8}
score: {methods: [gradient_l1]}
prune: {sweeps: [{one_shot: {fractions: [0, 1]}}]}
surgery: {fractions: []}
report: {bootstrap_iters: 100}
runtime: {threads: 1}
)yaml";

/// `count` rows with labels bad and good in turn.
std::string rows(int count, int from) {
  std::string text;
  for (int i = from; i < from + count; ++i)
    text += fmt::format("{} film number {}\t{}\n", i % 2 ? "fine" : "poor", i, i % 2 ? "good" : "bad");
  return text;
}

void write_data(const TestFolder& scratch, const std::string& test = rows(11, 100)) {
  fs::create_directories(scratch / "data");
  write_file(scratch / "data/train.tsv", rows(40, 0));
  write_file(scratch / "data/dev.tsv", rows(11, 60));
  write_file(scratch / "data/test.tsv", test);
}

double base_accuracy(const fs::path& run) {
  for (const Json& event : read_framed(run / kJournal).lines)
    if (event["ev"] == "point_done" && event["spec"]["rule"] == "none") return event["metrics"]["accuracy"]["value"];
  return -1;
}

/// The names of a model's outputs, changed as another tool might have them.
void rename_outputs(const fs::path& model, const Json& names) {
  Json config = parse_json(read_file(model / "config.json"), "config.json");
  config["id2label"] = names;
  write_file(model / "config.json", config.dump());
  fs::remove(model / "manifest.json");
}

}  // namespace

TEST_CASE("validate, the log and the report say what the data look like", "[cli]") {
  const TestFolder scratch;
  write_data(scratch);
  write_file(scratch / "small.yaml", kYaml);
  const std::string train =
      "train, score (train part): 40 examples; labels bad: 20, good: 20; 5 tokens at the median, "
      "5 at most, unknown 0 %; repeated 0 %; none in another part";
  const Finished checked = headprune_in(scratch.path(), {"validate", "small.yaml"});
  CHECK(checked.code == 0);
  CHECK(checked.out.find(train) != std::string::npos);
  const Finished finished = headprune_in(scratch.path(), {"run", "small.yaml"});
  INFO(finished.err);
  REQUIRE(finished.code == 0);
  const fs::path run = scratch / "runs/small";
  CHECK(read_file(run / "log.txt").find(train) != std::string::npos);
  CHECK(read_file(run / "report.md").find("labels bad: 20, good: 20") != std::string::npos);
  // Without heads a model says the same of every text; what stands for Matthews' correlation then is no measurement.
  const Json results = parse_json(read_file(run / "results.json"), "results.json");
  CHECK(dump_json(results["warnings"])
            .find("sweep one_shot: at some of its points the model predicts the same for "
                  "every example of the report split: matthews (0, or what guessing gives) means nothing there") !=
        std::string::npos);
}

TEST_CASE("outputs of a loaded model follow their names, not their order", "[cli]") {
  const TestFolder scratch;
  write_data(scratch);
  write_file(scratch / "small.yaml", kYaml);
  REQUIRE(headprune_in(scratch.path(), {"run", "small.yaml", "prune.sweeps=[]"}).code == 0);
  const double accuracy = base_accuracy(scratch / "runs/small");
  REQUIRE(accuracy >= 0);
  REQUIRE(accuracy != 0.5);  // 11 examples
  const fs::path model = scratch / "runs/small/model";
  const std::string yaml = std::regex_replace(
      std::regex_replace(kYaml, std::regex("model: .*"), "model: {type: encoder, init: load, path: runs/small/model}"),
      std::regex("\n(train|score|prune|surgery):[^\n]*"), "");
  write_file(scratch / "loaded.yaml", yaml);
  const auto run_again = [&](const std::string& out, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"run", "loaded.yaml", "--out", out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return headprune_in(scratch.path(), arguments);
  };
  REQUIRE(run_again("same").code == 0);
  CHECK(base_accuracy(scratch / "same") == accuracy);
  rename_outputs(model, {{"0", "GOOD"}, {"1", "Bad"}});
  const Finished turned = run_again("turned");
  REQUIRE(turned.code == 0);
  CHECK(base_accuracy(scratch / "turned") == Approx(1 - accuracy));
  CHECK(turned.err.find("label good of the data is output 0 of the model, GOOD") != std::string::npos);
  CHECK(read_file(scratch / "turned/report.md").find("label bad of the data is output 1") != std::string::npos);
  rename_outputs(model, {{"0", "LABEL_0"}, {"1", "LABEL_1"}});
  const Finished unknown = run_again("unknown");
  CHECK(unknown.code == 4);
  CHECK(unknown.err.find("set data.labels to the data's labels in the order of the model's outputs") !=
        std::string::npos);
  CHECK(headprune_in(scratch.path(), {"validate", "loaded.yaml"}).code == 4);
  REQUIRE(run_again("settled", {"data.labels=[bad,good]"}).code == 0);
  CHECK(base_accuracy(scratch / "settled") == accuracy);
}

TEST_CASE("a checkpoint for other labels is fine-tuned with a new classifier, and keeps its other files", "[cli]") {
  const TestFolder scratch;
  write_data(scratch);
  const fs::path model = scratch / "bert";
  fs::create_directory(model);
  for (const char* name : {"config.json", "model.safetensors"})  // three labels, 50 tokens, 20 positions
    fs::copy(fs::path(HEADPRUNE_SOURCE_DIR) / "tests/golden/hf/bert_classifier" / name, model / name);
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nfine\npoor\nfilm\nnumber\n";
  for (int digit = 0; digit < 10; ++digit) vocabulary += fmt::format("{}\n##{}\n", digit, digit);
  write_file(model / "vocab.txt", vocabulary);
  write_file(model / "generation_config.json", "{}\n");
  Json config = parse_json(read_file(model / "config.json"), "config.json");
  config.erase("model_type");
  config["my_key"] = 7;
  write_file(model / "config.json", config.dump());
  write_file(scratch / "small.yaml",
             std::regex_replace(kYaml, std::regex("model: .*"), "model: {type: bert, path: bert, dropout: 0}"));
  CHECK(headprune_in(scratch.path(), {"validate", "small.yaml"}).code == 0);
  const Finished finished = headprune_in(scratch.path(), {"run", "small.yaml"});
  INFO(finished.err);
  REQUIRE(finished.code == 0);
  CHECK(finished.err.find("has 3 labels (LABEL_0, LABEL_1, LABEL_2) and the data 2 (bad, good): training starts a new "
                          "one") != std::string::npos);
  CHECK(finished.err.find("the token table has 50 rows and the tokenizer 29 ids") != std::string::npos);
  const fs::path run = scratch / "runs/small";
  const Json saved = parse_json(read_file(run / "model/config.json"), "config.json");
  CHECK(saved["id2label"] == Json{{"0", "bad"}, {"1", "good"}});
  CHECK(saved["model_type"] == "bert");
  std::string point;
  for (const Json& event : read_framed(run / kJournal).lines)
    if (event["ev"] == "point_done" && event["spec"]["rule"] == "one_shot") point = event["point"];
  for (const char* form : {"compact", "zeroed"}) {
    const Finished exported =
        headprune_in(scratch.path(), {"export", run.string(), "--point", point, "--form", form, "--to", form});
    INFO(exported.err);
    REQUIRE(exported.code == 0);
    CHECK(read_file(scratch / form / "generation_config.json") == "{}\n");
    CHECK(fs::exists(scratch / form / "vocab.txt"));
    CHECK(parse_json(read_file(scratch / form / "config.json"), "config.json")["my_key"] == 7);
  }
  // Without training there is no classifier for these labels.
  const Finished refused = headprune_in(
      scratch.path(), {"validate", "small.yaml", "train=null", "prune.sweeps=[]", "data.labels=[bad,good]"});
  CHECK(refused.code == 4);
  CHECK(refused.err.find("the model has 3 labels, LABEL_0, LABEL_1, LABEL_2, and data.labels 2: bad, good") !=
        std::string::npos);
}

TEST_CASE("a report split with one label is refused before anything starts", "[cli]") {
  const TestFolder scratch;
  write_data(scratch, "hidden text\tgood\nanother text\tgood\n");
  write_file(scratch / "small.yaml", kYaml);
  for (const char* command : {"validate", "run"}) {
    const Finished finished = headprune_in(scratch.path(), {command, "small.yaml"});
    CHECK(finished.code == 4);
    CHECK(finished.err.find("of the report split (the test part) has the label 'good'") != std::string::npos);
  }
  CHECK_FALSE(fs::exists(scratch / "runs"));
}

}  // namespace headprune
