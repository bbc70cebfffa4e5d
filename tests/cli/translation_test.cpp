// A small translation through the real binary: three attention kinds, texts, and sweeps of earlier training steps.
#include <map>
#include <set>

#include "cli/program.h"
#include "core/safetensors.h"
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
    - one_shot: {label: step_10, at_step: 10, fractions: [0, 0.5], methods: [gradient_l1]}
    - one_shot: {fractions: [0, 0.5, 1]}
    - one_shot: {label: cross_only, kinds: [cross], fractions: [0, 1], methods: [gradient_l1]}
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

/// Rows of a CSV file, each by its columns.
std::vector<std::map<std::string, std::string>> csv_rows(const fs::path& file) {
  const std::string content = read_file(file);
  const auto lines = split(content, '\n');
  const auto header = split(lines.front(), ',');
  std::vector<std::map<std::string, std::string>> rows;
  for (size_t i = 1; i < lines.size(); ++i) {
    const auto cells = split(lines[i], ',');
    if (cells.size() != header.size()) continue;
    auto& row = rows.emplace_back();
    for (size_t c = 0; c < cells.size(); ++c) row[std::string(header[c])] = cells[c];
  }
  return rows;
}

/// The point of `sweep` that lacks half of its heads.
std::string half_point(const fs::path& run, const std::string& sweep) {
  for (auto& row : csv_rows(run / "curve.csv"))
    if (row["seed"] == "1" && row["method"] == "gradient_l1" && row["sweep"] == sweep && row["fraction"] == "0.5")
      return row["point"];
  return "";
}

/// kExperiment in a folder of its own, with other lines.
Finished run_with(const TestFolder& folder, const std::vector<std::string>& overrides) {
  fs::copy(translated().folder / "data", folder / "data");
  folder.write("pairs.yaml", kExperiment);
  std::vector<std::string> arguments = {"run", "pairs.yaml", "seeds=[1]", "sensitivity.tables=[]"};
  arguments.insert(arguments.end(), overrides.begin(), overrides.end());
  return headprune_in(folder.path(), arguments);
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
  CHECK_THAT(read_file(run / "report.html"), ContainsSubstring("bleu: nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"));
  CHECK(fs::exists(run / "plots/kind_curve-bleu.svg"));
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
  int64_t earlier = 0;
  for (auto& row : csv_rows(run / "curve.csv")) {
    const bool intact = row["heads_removed"] == "0";
    if (row["seed"] == "1" && row["metric"] == "loss" && intact)
      loss[row["sweep"]] = parse_number(row["value"]).value();
    if (row["at_step"].empty()) continue;
    ++earlier;
    CHECK(row["sweep"] == "step_" + row["at_step"]);
    // Compared with the model of that step, not with that at the end.
    if (intact) CHECK((row["value"] == row["base"] && parse_number(row["delta"]) == 0.0));
    if (row["metric"] == "loss")
      CHECK(parse_number(row["delta"]).value() ==
            Approx(parse_number(row["value"]).value() - parse_number(row["base"]).value()).margin(1e-12));
  }
  CHECK(earlier == 2 * 2 * 2 * 4);  // steps, seeds, points, metrics
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

TEST_CASE("an earlier step is asked for in the training section's absence: usage error with its place",
          "[cli][translation]") {
  const Translated& whole = translated();
  const TestFolder folder;
  std::string yaml(kExperiment);
  yaml = yaml.substr(0, yaml.find("model:")) +
         "model: {type: encoder_decoder, init: load, path: " + (whole.run / "model/seed-1").string() +
         "}\nscore: {methods: [gradient_l1]}\nprune:\n  sweeps:\n    - one_shot: {at_step: 1}\n";
  folder.write("late.yaml", yaml);
  const Finished refused = headprune_in(folder.path(), {"validate", "late.yaml"});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, ContainsSubstring("late.yaml:10:") && ContainsSubstring("at_step is a step of the training"));
}

TEST_CASE("training that stops early leaves later steps as failed points", "[cli][translation]") {
  const TestFolder folder;
  // Nothing is learnt, so that the first evaluation is the best.
  const Finished finished = run_with(folder, {"train.learning_rate=1e-30", "train.eval_steps=2", "train.save_steps=2",
                                              "train.early_stopping_patience=1"});
  CHECK(finished.code == 3);
  CHECK_THAT(finished.err, ContainsSubstring("sweep step_10 is about the model at_step 10, and training of seed 1 "
                                             "stopped early after"));
  std::set<std::string> sweeps;
  for (auto& row : csv_rows(folder / "runs/pairs/curve.csv")) sweeps.insert(row["sweep"]);
  CHECK(sweeps == std::set<std::string>{"cross_only", "one_shot", "step_0"});
}

TEST_CASE("heads are removed for real although the first sweep is about an earlier step", "[cli][translation]") {
  const Json results = parse_json(read_file(translated().run / "results.json"), "results");
  const Json& surgery = results["pruning"]["surgery"];
  REQUIRE(surgery.size() == 2);  // seeds
  std::set<std::string> ours;
  for (auto& row : csv_rows(translated().run / "curve.csv"))
    if (row["sweep"] == "one_shot") ours.insert(row["point"]);
  for (const Json& one : surgery) CHECK(ours.contains(one["point"].get<std::string>()));
  const TestFolder folder;
  const Finished alone = run_with(folder, {"prune.sweeps=[{one_shot: {label: step_10, at_step: 10}}]"});
  CHECK(alone.code == 0);
  CHECK_THAT(read_file(folder / "runs/pairs/report.md"), ContainsSubstring("no heads were removed for real"));
}

TEST_CASE("--smoke goes through earlier steps too", "[cli][translation]") {
  const TestFolder folder;
  CHECK(run_with(folder, {"--smoke"}).code == 0);
}

TEST_CASE("weights of earlier steps are read only where a point is missing", "[cli][translation]") {
  const TestFolder folder;
  REQUIRE(run_with(folder, {}).code == 0);
  const fs::path run = folder / "runs/pairs";
  fs::remove_all(run / "train/seed-1/step-000010");
  const std::vector<std::string> again = {"run", "pairs.yaml", "seeds=[1]", "sensitivity.tables=[]"};
  CHECK(headprune_in(folder.path(), again).code == 0);
  std::vector<std::string> anew = again;
  anew.insert(anew.end(), {"--from", "prune"});
  const Finished refused = headprune_in(folder.path(), anew);
  CHECK(refused.code == 4);
  CHECK_THAT(refused.err, ContainsSubstring("step-000010 is gone") && ContainsSubstring("--from model"));
  const Finished exported =
      headprune_in(folder.path(), {"export", run.string(), "--point", half_point(run, "step_10"), "--to", "pruned"});
  CHECK(exported.code == 4);
  CHECK_THAT(exported.err, ContainsSubstring("step-000010 is gone"));
}

TEST_CASE("a point of an earlier step is exported from that step's weights", "[cli][translation]") {
  const Translated& whole = translated();
  const TestFolder folder;
  const Finished exported =
      headprune_in(whole.folder.path(), {"export", whole.run.string(), "--point", half_point(whole.run, "step_10"),
                                         "--form", "zeroed", "--to", (folder / "early").string()});
  INFO(exported.err);
  REQUIRE(exported.code == 0);
  // What no mask touches is as it was at that step.
  const auto embedding = [](const fs::path& model) {
    std::map<std::string, std::string> found;
    for (const TensorBytes& tensor : read_safetensors(model / "model.safetensors"))
      if (tensor.name.find("embed") != std::string::npos) found[tensor.name] = tensor.bytes;
    REQUIRE_FALSE(found.empty());
    return found;
  };
  CHECK(embedding(folder / "early") == embedding(whole.run / "train/seed-1/step-000010"));
  CHECK(embedding(folder / "early") != embedding(whole.run / "model/seed-1"));
}

TEST_CASE("an example of a translation is its source and its target", "[cli][translation]") {
  const auto hashes = [](const fs::path& run) {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(run / kSamples)) {
      const std::string content = read_file(entry.path());
      for (const std::string_view line : split(content, '\n'))
        if (!line.empty()) found.insert(parse_json(std::string(line), "sample")["doc_hash"].get<std::string>());
    }
    return found;
  };
  const std::set<std::string> ours = hashes(translated().run);
  CHECK(ours.size() == 32);
  const TestFolder same, other;
  REQUIRE(run_with(same, {"--until", "evaluate"}).code == 0);
  CHECK(hashes(same / "runs/pairs") == ours);
  fs::copy(translated().folder / "data", other / "data");
  std::string references;
  for (int64_t i = 0; i < 32; ++i) references += i % 2 ? "rot\n" : "haus\n";
  other.write("data/test.de", references);
  other.write("pairs.yaml", kExperiment);
  REQUIRE(headprune_in(other.path(), {"run", "pairs.yaml", "seeds=[1]", "--until", "evaluate"}).code == 0);
  for (const std::string& hash : hashes(other / "runs/pairs")) CHECK_FALSE(ours.contains(hash));
}

TEST_CASE("a pruned translation model is exported and loaded again with its tokenizer", "[cli][translation]") {
  const Translated& whole = translated();
  const std::string point = half_point(whole.run, "one_shot");
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
