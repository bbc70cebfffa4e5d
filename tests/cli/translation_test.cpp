// A small translation through the real binary: three attention kinds, texts, and sweeps of earlier training steps.
#include <map>

#include "cli/program.h"
#include "core/text.h"
#include "record/run_folder.h"
#include "support/catch.h"

namespace headprune {

namespace {

/// Sentences of three words from a language whose words are translated one by one, backwards.
void write_pairs(const TestFolder& folder, const std::string& part, int64_t first, int64_t count) {
  const std::vector<std::string> words = {"red", "dog", "runs", "house", "sees", "small"};
  const std::vector<std::string> theirs = {"rot", "hund", "rennt", "haus", "sieht", "klein"};
  std::string source, target;
  for (int64_t i = first; i < first + count; ++i) {
    const auto a = static_cast<size_t>(i % 6), b = static_cast<size_t>(i / 6 % 6), c = static_cast<size_t>(i / 36 % 6);
    source += fmt::format("{} {} {}\n", words[a], words[b], words[c]);
    target += fmt::format("{} {} {}\n", theirs[c], theirs[b], theirs[a]);
  }
  folder.write("data/" + part + ".en", source);
  folder.write("data/" + part + ".de", target);
}

constexpr const char* kExperiment = R"(name: pairs
seeds: [1, 2]
data:
  {type: aligned, path: data, source: en, target: de, vocabulary: {size: 48}, splits: {score: dev}}
task: {type: translation, metrics: [bleu, chrf, loss, perplexity], beam_width: 2}
model: {type: encoder_decoder, d_model: 16, layers: 1, heads: 2, d_ff: 32, dropout: 0}
train: {max_steps: 30, per_device_train_batch_size: 16, learning_rate: 0.01, save_steps: 10}
score: {methods: [gradient_l1, output_l2, entropy], batch_size: 16}
prune:
  sweeps:
    - one_shot: {fractions: [0, 0.5, 1]}
    - one_shot: {label: cross_only, kinds: [cross], fractions: [0, 1], methods: [gradient_l1]}
    - one_shot: {label: step_10, at_step: 10, fractions: [0, 0.5], methods: [gradient_l1]}
    - one_shot: {label: step_0, at_step: 0, fractions: [0, 0.5], methods: [gradient_l1]}
sensitivity: {tables: [leave_one_out, all_but_one, kind_curve], methods: [gradient_l1], fractions: [0.5, 1]}
surgery: {fractions: [0.5], timing: {batch_sizes: [2], repeats: 2}}
report: {bootstrap_iters: 100}
runtime: {threads: 1}
output: {samples: true}
)";

struct Translated {
  TestFolder folder;
  fs::path run;
  Translated() {
    write_pairs(folder, "train", 0, 160);
    write_pairs(folder, "dev", 160, 24);
    write_pairs(folder, "test", 184, 32);
    folder.write("pairs.yaml", kExperiment);
    const Finished finished = headprune_in(folder.path(), {"pairs.yaml"});
    INFO(finished.err);
    REQUIRE(finished.code == 0);
    run = folder / "runs/pairs";
  }
};

const Translated& translated() {
  static const Translated once;
  return once;
}

}  // namespace

TEST_CASE("a translation is trained, scored, pruned by kind and measured by its texts", "[cli][translation]") {
  const fs::path& run = translated().run;
  CHECK(parse_json(read_file(run / "results.json"), "results")["state"] == "completed");
  CHECK(read_file(run / "model/seed-1/source.spm") == read_file(run / "model/seed-2/target.spm"));
  const std::string curve = read_file(run / "curve.csv"), table = read_file(run / "sensitivity.csv");
  for (const char* metric : {",bleu,", ",chrf,", ",loss,", ",perplexity,"})
    CHECK_THAT(curve, ContainsSubstring(metric));
  for (const char* kind : {"encoder", "decoder", "cross"}) {
    CHECK_THAT(table, ContainsSubstring(fmt::format("kind_curve,gradient_l1,0,{},", kind)));
    CHECK_THAT(table, ContainsSubstring(fmt::format("all_but_one,,,{},0", kind)));
  }
  CHECK_THAT(curve, ContainsSubstring("cross_only"));
  // Without any cross-attention the model knows nothing of the source: it writes the same for all.
  std::map<std::string, int64_t> texts;
  bool found = false;
  for (const auto& entry : fs::directory_iterator(run / kSamples)) {
    std::map<std::string, int64_t> written;
    const std::string content = read_file(entry.path());
    for (const std::string_view line : split(content, '\n'))
      if (!line.empty()) ++written[parse_json(std::string(line), "sample")["pred"].get<std::string>()];
    found = found || written.size() == 1;
    if (written.size() > texts.size()) texts = written;
  }
  CHECK(found);
  CHECK(texts.size() > 8);
}

TEST_CASE("a sweep at an earlier training step scores and prunes the weights of that step", "[cli][translation]") {
  const fs::path& run = translated().run;
  CHECK(fs::exists(run / "train/seed-1/step-000000/model.safetensors"));
  CHECK(fs::exists(run / "train/seed-1/step-000010/model.safetensors"));
  std::map<std::string, double> loss;
  const std::string curve = read_file(run / "curve.csv");
  const auto lines = split(curve, '\n');
  const auto header = split(lines.front(), ',');
  const auto column = [&](const char* name) {
    return static_cast<size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  };
  for (const std::string_view line : lines) {
    const auto cells = split(line, ',');
    if (cells.size() == header.size() && cells[column("seed")] == "1" && cells[column("metric")] == "loss" &&
        cells[column("heads_removed")] == "0")
      loss[std::string(cells[column("sweep")])] = parse_number(cells[column("value")]).value();
  }
  // Nothing removed: training is all that these differ in.
  CHECK(loss.at("step_0") > loss.at("step_10") + 0.1);
  CHECK(loss.at("step_10") > loss.at("one_shot") + 0.1);
  CHECK(loss.at("one_shot") == loss.at("cross_only"));
}

TEST_CASE("a translation that was interrupted ends with the files of one that was not", "[cli][translation]") {
  const Translated& whole = translated();
  const TestFolder folder;
  fs::copy(whole.folder / "data", folder / "data");
  folder.write("pairs.yaml", kExperiment);
  for (const char* stage : {"model", "prune"})
    REQUIRE(headprune_in(folder.path(), {"run", "pairs.yaml", "--until", stage}).code == 0);
  REQUIRE(headprune_in(folder.path(), {"run", "pairs.yaml"}).code == 0);
  CHECK(lasting_results(folder / "runs/pairs") == lasting_results(whole.run));
}

TEST_CASE("a step that training does not have is a usage error before any work", "[cli][translation]") {
  const Translated& whole = translated();
  const Finished refused = headprune_in(
      whole.folder.path(), {"validate", "pairs.yaml", "prune.sweeps=[{one_shot: {label: late, at_step: 31}}]",
                            "sensitivity.tables=[]", "surgery.fractions=[]"});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, ContainsSubstring("sweep late is about the model at_step 31, but training has 30 steps"));
}

TEST_CASE("a pruned translation model is exported and loaded again with its tokenizer", "[cli][translation]") {
  const Translated& whole = translated();
  const std::string curve = read_file(whole.run / "curve.csv");
  const auto lines = split(curve, '\n');
  std::string point;
  for (const std::string_view line : lines)
    if (line.starts_with("1,gradient_l1,0,one_shot,") && line.find(",0.5,") != std::string_view::npos)
      point = std::string(split(line, ',').back());
  REQUIRE_FALSE(point.empty());
  const TestFolder folder;
  const Finished exported = headprune_in(
      whole.folder.path(), {"export", whole.run.string(), "--point", point, "--to", (folder / "pruned").string()});
  INFO(exported.err);
  REQUIRE(exported.code == 0);
  CHECK(fs::exists(folder / "pruned/target.spm"));
  fs::copy(whole.folder / "data", folder / "data");
  std::string yaml(kExperiment);
  yaml = yaml.substr(0, yaml.find("model:")) +
         "model: {type: encoder_decoder, init: load, path: pruned}\nscore: {methods: [gradient_l1]}\n"
         "prune: {sweeps: [{one_shot: {fractions: [0, 1]}}]}\nreport: {bootstrap_iters: 100}\n";
  yaml.replace(yaml.find("vocabulary: {size: 48}, "), 24, "");
  folder.write("again.yaml", yaml);
  const Finished again = headprune_in(folder.path(), {"again.yaml"});
  INFO(again.err);
  CHECK(again.code == 0);
}

}  // namespace headprune
