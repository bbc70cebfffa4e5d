// The task `multiple_choice`, through the real binary.
#include "cli/program.h"
#include "core/json.h"
#include "core/text.h"
#include "support/catch.h"

namespace headprune {

TEST_CASE("an experiment on choices measures what lm-evaluation-harness does, scores and prunes", "[cli][choices]") {
  const TestFolder scratch;
  const fs::path golden = fs::path(HEADPRUNE_SOURCE_DIR) / "tests/golden";
  fs::create_directory(scratch / "model");
  fs::create_directory(scratch / "questions");
  for (const char* name : {"config.json", "model.safetensors"})
    fs::copy(golden / "choices" / name, scratch / "model" / name);
  for (const char* name : {"tokenizer.json", "tokenizer_config.json"})
    fs::copy(golden / "tokenizers/byte_bpe" / name, scratch / "model" / name);
  fs::copy(golden / "choices/test.jsonl", scratch / "questions/test.jsonl");
  write_file(scratch / "choices.yaml",
             "name: choices\ndata: {type: choices, path: questions, files: {train: test.jsonl, dev: test.jsonl},\n"
             "       limit: {score: 30, select: 20}}\n"
             "task: {type: multiple_choice}\nmodel: {type: llama, path: model}\n"
             "score: {methods: [gradient_l1, output_l2]}\nprune: {sweeps: [{one_shot: {fractions: [0, 0.5, 1]}}]}\n"
             "sensitivity: {tables: [all_but_one]}\nsurgery: {fractions: [0.5]}\noutput: {samples: true}\n"
             "report: {bootstrap_iters: 100}\nruntime: {threads: 1}\n");
  const Finished done = headprune_in(scratch.path(), {"run", "choices.yaml"});
  INFO(done.err);
  REQUIRE(done.code == 0);
  const fs::path run = scratch / "runs/choices";
  const Json metrics = parse_json(read_file(run / "metrics.json"), "metrics.json");
  const Json expected = parse_json(read_file(golden / "choices/expected.json"), "expected.json");
  CHECK(std::abs(metrics["base/accuracy"].get<double>() - expected["accuracy"].get<double>()) < 1e-12);
  CHECK(std::abs(metrics["base/accuracy_norm"].get<double>() - expected["accuracy_norm"].get<double>()) < 1e-12);
  CHECK(metrics.contains("curve/gradient_l1/one_shot/0.5/accuracy_norm"));
  CHECK(metrics["surgery/max_abs_diff"].get<double>() < 1e-4);

  double most = 1;
  for (const auto& file : fs::directory_iterator(run / "samples")) {
    const std::string text = read_file(file.path());
    double off = 0;
    size_t row = 0;
    for (const std::string_view line : split(text, '\n')) {
      if (line.empty()) continue;
      const auto found = parse_json(line, "sample")["logits"].get<std::vector<double>>();
      const auto right = expected["log_likelihoods"][row++].get<std::vector<double>>();
      REQUIRE(found.size() == right.size());
      for (size_t i = 0; i < right.size(); ++i) off = std::max(off, std::abs(found[i] - right[i]));
    }
    CHECK(row == 200);
    most = std::min(most, off);  // that of the unpruned model
  }
  CHECK(most < 1e-4);
}

TEST_CASE("choices need a loaded model's tokenizer, files, and their task", "[cli][choices]") {
  const TestFolder scratch;
  const auto refused = [&](const std::string& task) -> std::string {
    write_file(scratch / "new.yaml", "name: x\ndata: {type: choices, path: questions}\ntask: {type: " + task +
                                         "}\nmodel: {type: decoder}\ntrain: {max_steps: 2}\n");
    const Finished done = headprune_in(scratch.path(), {"validate", "new.yaml"});
    CHECK(done.code == 2);
    return done.err;
  };
  fs::create_directory(scratch / "questions");
  const std::string line = "{\"context\":\"a\",\"choices\":[\"b\",\"c\"],\"label\":0}\n";
  write_file(scratch / "questions/train.jsonl", line);
  CHECK_THAT(refused("multiple_choice"), ContainsSubstring("dev.jsonl: there is no such file for the dev part"));
  write_file(scratch / "questions/dev.jsonl", line);
  write_file(scratch / "questions/test.jsonl", line);
  CHECK_THAT(refused("multiple_choice"), ContainsSubstring("takes the tokenizer of a loaded model"));
  CHECK_THAT(refused("language_modelling"), ContainsSubstring("running text"));
}

}  // namespace headprune
