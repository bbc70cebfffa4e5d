// Likelihoods of choices against lm-evaluation-harness (tests/golden/make_choices.py).
#include "task/multiple_choice.h"

#include "config/load.h"
#include "core/log.h"
#include "data/source.h"
#include "metric/metric.h"
#include "model/folder.h"
#include "model/support.h"
#include "task/mask_evaluator.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

/// The committed model with the committed tokenizer, and the questions.
struct ChoiceGolden {
  TestFolder folder;
  Json expected;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const Task> task;

  ChoiceGolden() {
    set_log_level(LogLevel::off);
    const fs::path golden = fs::path(HEADPRUNE_SOURCE_DIR) / "tests/golden";
    for (const char* name : {"config.json", "model.safetensors", "test.jsonl"})
      fs::copy(golden / "choices" / name, folder / name);
    for (const char* name : {"tokenizer.json", "tokenizer_config.json"})
      fs::copy(golden / "tokenizers/byte_bpe" / name, folder / name);
    expected = parse_json(read_file(golden / "choices/expected.json"), "expected.json");
    tokenizer = read_tokenizer(folder.path());
    task = made<Task>("task: {type: multiple_choice}\n");
  }
  template <class T>
  static std::shared_ptr<const T> made(const std::string& yaml) {
    struct Holder {
      Plugin<T> part;
      void fields(FieldList& v) { v(std::is_same_v<T, Task> ? "task" : "data", part, "part"); }
    };
    return load_config<Holder>(ConfigText{"t.yaml", yaml, "."}).value.part.make();
  }
  Dataset data(const std::string& more = "") const {
    const std::string files = "files: {train: test.jsonl, dev: test.jsonl, test: test.jsonl}";
    return made<DataSource>(
               fmt::format("data: {{type: choices, path: {}, {}{}}}\n", folder.path().string(), files, more))
        ->load({.seed = 1, .tokenizer = tokenizer, .kind = DataKind::choices});
  }
  std::shared_ptr<TransformerModel> model() const { return load_model(read_model_folder(folder.path()), torch::kCPU); }
};

double value_of(const std::vector<MetricResult>& results, const std::string& name) {
  for (const MetricResult& result : results)
    if (result.name == name) return result.estimate.value;
  return NAN;
}

}  // namespace

TEST_CASE("likelihoods, predictions and both accuracies are those of lm-evaluation-harness", "[task][choices]") {
  const ChoiceGolden golden;
  const Dataset data = golden.data();
  const auto model = golden.model();
  const auto batches = make_batches(*data.report, {.examples = 7}, torch::kCPU);
  const Outcomes outcomes = MaskEvaluator(*model, *golden.task, batches, 0).evaluate({});
  const Json& all = golden.expected["log_likelihoods"];
  REQUIRE(outcomes.size() == 200);
  double most = 0;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const auto expected = all[i].get<std::vector<double>>();
    REQUIRE(outcomes[i].choices.size() == expected.size());
    for (size_t c = 0; c < expected.size(); ++c) most = std::max(most, std::abs(outcomes[i].choices[c] - expected[c]));
    CHECK((outcomes[i].predicted == outcomes[i].target) == (golden.expected["right"][i] == 1));
    CHECK((outcomes[i].predicted_by_length == outcomes[i].target) == (golden.expected["right_norm"][i] == 1));
    CHECK(std::abs(-outcomes[i].loss * outcomes[i].weight - expected[static_cast<size_t>(outcomes[i].target)]) < 1e-4);
  }
  CHECK(most < 1e-4);
  const auto results = golden.task->evaluate({.outcomes = outcomes, .bootstrap_iters = 100});
  CHECK(std::abs(value_of(results, "accuracy") - golden.expected["accuracy"].get<double>()) < 1e-12);
  CHECK(std::abs(value_of(results, "accuracy_norm") - golden.expected["accuracy_norm"].get<double>()) < 1e-12);
  CHECK(golden.expected["accuracy"] != golden.expected["accuracy_norm"]);
}

TEST_CASE("choices come out alike however they are batched, masked or without heads", "[task][choices]") {
  const ChoiceGolden golden;
  const Dataset data = golden.data(", limit: {report: 40}");
  const auto model = golden.model();
  const HeadSet removed = head_set(Kind::decoder, {{0, 1}, {1, 0}, {1, 1}});
  const auto by_one = make_batches(*data.report, {.examples = 1}, torch::kCPU);
  const auto by_tokens = make_batches(*data.report, {.tokens = 300}, torch::kCPU);
  for (const Batch& batch : by_tokens) CHECK((batch.size() == 1 || batch.tokens.numel() <= 300));
  const auto pruned = model->copy();
  pruned->remove_heads(removed);
  const Outcomes first = MaskEvaluator(*model, *golden.task, by_one, 1 << 20).evaluate(removed);
  const Outcomes second = MaskEvaluator(*pruned, *golden.task, by_tokens, 0).evaluate({});
  const Outcomes intact = MaskEvaluator(*model, *golden.task, by_one, 0).evaluate({});
  REQUIRE(first.size() == 40);
  double most = 0, change = 0;
  for (size_t i = 0; i < first.size(); ++i)
    for (size_t c = 0; c < first[i].choices.size(); ++c) {
      most = std::max(most, std::abs(first[i].choices[c] - second[i].choices[c]));
      change = std::max(change, std::abs(first[i].choices[c] - intact[i].choices[c]));
    }
  CHECK(most < 1e-4);
  CHECK(change > 1e-2);
}

TEST_CASE("the loss of an example is that of its right choice, alone or among the others", "[task][choices]") {
  const torch::NoGradGuard no_grad;
  const ChoiceGolden golden;
  const Dataset data = golden.data(", limit: {report: 9}");
  const auto model = golden.model();
  const auto alone = make_batches(*data.report, {.examples = 9}, torch::kCPU, ChoiceUse::right);
  const auto among = make_batches(*data.report, {.examples = 9}, torch::kCPU);
  REQUIRE((alone.size() == 1 && among.size() == 1));
  CHECK(alone[0].tokens.size(0) == 9);
  CHECK(among[0].tokens.size(0) > 18);
  const torch::Tensor one = golden.task->example_losses(model->forward(alone[0]).values, alone[0]);
  const torch::Tensor all = golden.task->example_losses(model->forward(among[0]).values, among[0]);
  CHECK(max_difference(one, all) < 1e-5);
}

TEST_CASE("likelihoods are sums over targets, computed by hand", "[task][choices]") {
  // Two rows, three positions, a vocabulary of two: probabilities 1/2, 4/5 and 1/4 of token 0.
  const torch::Tensor first = torch::tensor({{0.0, std::log(4.0), 0.0}}).expand({2, 3});
  const torch::Tensor second = torch::tensor({{0.0, 0.0, std::log(3.0)}}).expand({2, 3});
  const torch::Tensor logits = torch::stack({first, second}, -1);  // [2, 3, 2]
  const torch::Tensor targets =
      torch::tensor({kNoTarget, int64_t{0}, int64_t{1}, int64_t{0}, kNoTarget, kNoTarget}).view({2, 3});
  const std::vector<double> found = choice_log_likelihoods(logits, targets);
  CHECK(std::abs(found[0] - (std::log(0.8) + std::log(0.75))) < 1e-6);
  CHECK(std::abs(found[1] - std::log(0.5)) < 1e-6);
}

TEST_CASE("a model whose numbers are not finite chooses nothing", "[task][choices]") {
  const torch::NoGradGuard no_grad;
  const ChoiceGolden golden;
  const Dataset data = golden.data(", limit: {report: 3}");
  const auto model = golden.model();
  model->attention(0).output().weight[0][0] = NAN;
  const auto batches = make_batches(*data.report, {.examples = 3}, torch::kCPU);
  const Outcomes outcomes = MaskEvaluator(*model, *golden.task, batches, 0).evaluate({});
  for (const Outcome& outcome : outcomes) CHECK((outcome.predicted == -1 && outcome.predicted_by_length == -1));
  CHECK(std::isnan(golden.task->choice_value(outcomes)));
}

TEST_CASE("questions that cannot be asked are refused with file and line", "[data][choices]") {
  const ChoiceGolden golden;
  const auto refused = [&](const std::string& line, const std::string& more = "") -> std::string {
    write_file(golden.folder / "test.jsonl",
               "{\"context\":\"a b\",\"choices\":[\"c\",\"d e\"],\"label\":\"d e\"}\n" + line + "\n");
    try {
      golden.data(more);
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::run_failed);
      return error.what();
    }
    return "";
  };
  const std::string ok = "{\"context\":\"x\",\"choices\":[\"y\",\"z\",\"w\"],\"label\":2,\"other\":1}";
  CHECK(refused(ok).empty());
  CHECK_THAT(refused("{"), ContainsSubstring("test.jsonl:2"));
  CHECK_THAT(refused("[]"), ContainsSubstring("test.jsonl:2: expected {\"context\""));
  CHECK_THAT(refused("{\"choices\":[\"y\",\"z\"],\"label\":0}"), ContainsSubstring("\"context\" is not a text"));
  CHECK_THAT(refused("{\"context\":\" \\n\\u00a0\",\"choices\":[\"y\",\"z\"],\"label\":0}"),
             ContainsSubstring("test.jsonl:2: the context is empty"));
  CHECK_THAT(refused("{\"context\":\"x\",\"choices\":[\"y\"],\"label\":0}"), ContainsSubstring("two texts or more"));
  CHECK_THAT(refused("{\"context\":\"x\",\"choices\":[\"y\",\"\"],\"label\":0}"),
             ContainsSubstring("the choice \"\" is not"));
  for (const char* label : {"2", "-1", "1.0", "\"q\"", "null", "true"})
    CHECK_THAT(
        refused(fmt::format("{{\"context\":\"x\",\"choices\":[\"y\",\"z\"],\"label\":{}}}", label)),
        ContainsSubstring(fmt::format("\"label\" is {}; expected the number of the right choice, from 0 to 1", label)));
  CHECK_THAT(refused(""), ContainsSubstring("test.jsonl:2: the line is empty"));
  CHECK_THAT(refused("{\"context\":\"x\",\"choices\":[\"y y y y\",\"z\"],\"label\":0}", ", max_length: 2"),
             ContainsSubstring("more than data.max_length 2"));
}

TEST_CASE("contexts are cut at their beginning, and white space at their end goes to the choice", "[data][choices]") {
  const ChoiceGolden golden;
  write_file(golden.folder / "test.jsonl",
             "{\"context\":\"a b c d e f \",\"choices\":[\"g\",\"h i\"],\"label\":1}\n"
             "{\"context\":\"a b\",\"choices\":[\"g\",\"h\"],\"label\":0}\n");
  const Dataset whole = golden.data(", delimiter: ''"), cut = golden.data(", delimiter: '', max_length: 4");
  const Example& example = whole.report->examples[0];
  const std::vector<int64_t> context = golden.tokenizer->encode("a b c d e f"),
                             all = golden.tokenizer->encode("a b c d e f h i");
  CHECK(example.right_choice == 1);
  CHECK(example.tokens == std::vector<int64_t>(all.begin(), all.end() - 1));
  CHECK(std::count_if(example.targets.begin(), example.targets.end(), [](int64_t id) { return id != kNoTarget; }) ==
        std::ssize(all) - std::ssize(context));
  CHECK(example.choices[1].characters == 3);
  const Example& shorter = cut.report->examples[0];
  CHECK(shorter.tokens == std::vector<int64_t>(example.tokens.end() - 4, example.tokens.end()));
  CHECK(shorter.targets == std::vector<int64_t>(example.targets.end() - 4, example.targets.end()));
}

TEST_CASE("perplexity of windows that overlap is that of transformers' loop", "[task][stride]") {
  const Json golden =
      parse_json(read_file(fs::path(HEADPRUNE_SOURCE_DIR) / "tests/golden/perplexity.json"), "perplexity.json");
  const auto model =
      load_model(read_model_folder(fs::path(HEADPRUNE_SOURCE_DIR) / "tests/golden/hf/llama"), torch::kCPU);
  const TestFolder folder;
  write_file(folder / "t.txt", golden["text"].get<std::string>());
  const auto task = ChoiceGolden::made<Task>("task: {type: language_modelling, metrics: [perplexity, loss]}\n");
  for (const Json& one : golden["cases"]) {
    INFO(one.dump());
    const Dataset data =
        ChoiceGolden::made<DataSource>(
            fmt::format("data: {{type: text, path: {}, context_length: {}, stride: {}, fractions: {{train: 1, dev: 0, "
                        "test: 0}}, splits: {{select: train, report: train}}}}\n",
                        (folder / "t.txt").string(), one["context_length"].get<int>(), one["stride"].get<int>()))
            ->load({.seed = 1, .kind = DataKind::language});
    const auto batches = make_batches(*data.report, {.examples = 5}, torch::kCPU);
    const Outcomes outcomes = MaskEvaluator(*model, *task, batches, 0).evaluate({});
    double predicted = 0;
    for (const Outcome& outcome : outcomes) predicted += outcome.weight;
    CHECK(predicted == one["tokens"].get<double>());
    CHECK(std::abs(task->choice_value(outcomes) - one["perplexity"].get<double>()) < 1e-3);
  }
}
