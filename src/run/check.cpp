#include "run/check.h"

#include <algorithm>

#include "analysis/analysis.h"
#include "core/memory.h"
#include "core/text.h"
#include "model/id_check.h"
#include "model/idle_patterns.h"
#include "model/memory.h"
#include "run/fingerprint.h"
#include "train/train_batches.h"

namespace headprune {

namespace {

int64_t length_of(const Example& example) {
  return std::max(std::ssize(example.tokens), std::ssize(example.decoder_tokens));
}

/// The longest example of some splits.
struct Longest {
  const Split* split = nullptr;
  size_t index = 0;
  int64_t tokens = 0, decoder_tokens = 0;  // of the longest on each side

  void look_at(const Split& from) {
    for (size_t i = 0; i < from.examples.size(); ++i) {
      const Example& example = from.examples[i];
      if (!split || length_of(example) > std::max(tokens, decoder_tokens)) split = &from, index = i;
      tokens = std::max(tokens, std::ssize(example.tokens));
      decoder_tokens = std::max(decoder_tokens, std::ssize(example.decoder_tokens));
    }
  }
  std::string text() const {
    return split ? fmt::format("example {} of the {} part ({} tokens)", index + 1, split->name,
                               std::max(tokens, decoder_tokens))
                 : "no example";
  }
};

/// One kind of pass at its largest.
struct Need {
  std::string what, remedy;  // "a training batch", what makes it smaller
  BatchShape batch;
  uint64_t bytes = 0;
  Longest longest;
  std::string length;  // what says how long its texts are; empty: the longest example
};

/// At most `examples` of a split, all as long as the longest.
BatchShape largest_batch(const Split& split, const Longest& longest, const BatchPlan& plan) {
  const int64_t length = std::max<int64_t>(1, std::max(longest.tokens, longest.decoder_tokens));
  const int64_t wanted = plan.examples > 0 ? plan.examples : std::max<int64_t>(1, plan.tokens / length);
  return {.examples = std::min(wanted, std::ssize(split.examples)),
          .tokens = longest.tokens,
          .decoder_tokens = longest.decoder_tokens};
}

Need need_of(const TransformerModel& model, const Split& split, const BatchPlan& plan, const PassUse& use) {
  Need need;
  need.longest.look_at(split);
  need.batch = largest_batch(split, need.longest, plan);
  need.bytes = pass_bytes(model, need.batch, use);
  return need;
}

/// Whether removed heads are timed.
bool times(const Experiment& experiment) {
  return !experiment.surgery.timing.batch_sizes.empty() && !experiment.surgery.fractions.empty() &&
         !experiment.prune.sweeps.empty();
}

/// Refuses timed texts that have more tokens than the model has positions.
void check_timing(const Experiment& experiment, const TransformerModel& model) {
  const int64_t length = experiment.surgery.timing.sequence_length;
  if (times(experiment) && length > model.longest_text())
    fail(ExitCode::usage, "surgery.timing.sequence_length is {}, and the model has {} positions; lower it", length,
         model.longest_text());
}

std::vector<Need> needs_of(const Experiment& experiment, const Dataset& dataset, const TransformerModel& model) {
  std::vector<Need> needs;
  const auto add = [&](Need need, const char* what, const char* remedy, uint64_t more) {
    need.what = what;
    need.remedy = remedy;
    need.bytes += more;
    needs.push_back(std::move(need));
  };
  const auto parameters = static_cast<uint64_t>(parameter_count(model)) * sizeof(float);
  const BatchPlan scored{.examples = experiment.score.batch_size};
  // The model, and the copy of it that a mask or a sweep works on.
  const uint64_t models = 2 * parameters;
  if (experiment.train)  // with gradients and the optimizer's two moments
    add(need_of(model, *dataset.train, batch_plan(*experiment.train), {.gradients = true, .training = true}),
        "a training batch",
        experiment.train->tokens_per_batch ? "lower train.tokens_per_batch"
                                           : "lower train.per_device_train_batch_size (and raise "
                                             "train.gradient_accumulation_steps)",
        models + 3 * parameters);
  if (const TimingSection& timing = experiment.surgery.timing; times(experiment)) {
    Need need;
    need.longest.look_at(*dataset.report);
    const int64_t wanted = timing.sequence_length;
    if (wanted > 0) need.length = fmt::format("surgery.timing.sequence_length says ({} tokens)", wanted);
    need.batch = {.examples = *std::max_element(timing.batch_sizes.begin(), timing.batch_sizes.end()),
                  .tokens = wanted > 0 ? wanted : need.longest.tokens,
                  .decoder_tokens = need.longest.decoder_tokens == 0 ? 0
                                    : wanted > 0                     ? wanted
                                                                     : need.longest.decoder_tokens};
    need.bytes = pass_bytes(model, need.batch, {});
    add(std::move(need), "a timed batch", "lower surgery.timing.batch_sizes", models);
  }
  Needs asked;
  for (const auto& item : experiment.score.methods) {
    const Needs one = item.make()->needs();
    asked.attention_weights = asked.attention_weights || one.attention_weights;
    asked.gate_gradients = asked.gate_gradients || one.any_gradient();
  }
  if (asked.any_gradient() || asked.attention_weights)
    add(need_of(model, *dataset.score, scored,
                {.gradients = asked.any_gradient(), .attention_weights = asked.attention_weights}),
        "a scoring batch", "lower score.batch_size", models);
  if (!experiment.analyses.methods.empty())
    add(need_of(model, analysed_split(experiment, dataset), kAnalysisPlan, {.block_by_block = true}),
        "a batch of analyses", "leave `analyses` out", models);
  for (const auto& split : {dataset.select, dataset.report})
    add(need_of(model, *split, scored, {}), "an evaluation batch", "lower score.batch_size", models);
  return needs;
}

/// Refuses passes that do not fit into what the process may take, and says what the largest needs.
std::string check_memory(const Experiment& experiment, const Dataset& dataset, const TransformerModel& model) {
  const std::vector<Need> needs = needs_of(experiment, dataset, model);
  const Need& most =
      *std::max_element(needs.begin(), needs.end(), [](const Need& a, const Need& b) { return a.bytes < b.bytes; });
  const std::string largest =
      fmt::format("{} of {} {} as long as {} takes about {} with the model", most.what, most.batch.examples,
                  most.batch.examples == 1 ? "example" : "examples",
                  most.length.empty() ? most.longest.text() : most.length, bytes_text(most.bytes));
  const FreeMemory free = free_memory();
  if (most.bytes > free.bytes)
    fail(ExitCode::run_failed, "memory: {}, and {} leaves {}: set data.max_length, {}, or give the process more memory",
         largest, free.limit, bytes_text(free.bytes), most.remedy);
  return "memory: " + largest;
}

/// Holds the model against the data, without building it. Messages for people.
std::vector<std::string> check_model(const Experiment& experiment, const Dataset& dataset, torch::Device device) {
  std::vector<std::string> messages;
  const auto family = experiment.family();
  const std::shared_ptr<TransformerModel> model = family->outline(model_input(experiment, dataset));
  check_ids(dataset, model->sizes(), family->load_path() ? family->load_path()->string() : "the model");
  if (drops_token_types(dataset, model->sizes()))
    messages.emplace_back("token types: the texts have some and the model knows one type only; it ignores them");
  if (std::string idle = idle_pattern(model->sizes()); !idle.empty()) messages.push_back(std::move(idle));
  check_timing(experiment, *model);
  if (!experiment.analyses.methods.empty()) require_like_heads(*model);
  for (const auto& item : experiment.analyses.methods) item.make()->check(*model, dataset);
  if (device.is_cpu()) messages.push_back(check_memory(experiment, dataset, *model));
  return messages;
}

}  // namespace

CheckedExperiment check_experiment(const Experiment& experiment, const std::filesystem::path& folder) {
  CheckedExperiment checked;
  checked.device = configure_runtime(experiment.runtime);
  checked.inputs = experiment_inputs(experiment);
  checked.dataset = load_dataset(experiment);
  const std::vector<std::string> messages = check_model(experiment, checked.dataset, checked.device);
  checked.plan = plan_experiment(experiment, checked.dataset);
  checked.plan.messages.insert(checked.plan.messages.end(), messages.begin(), messages.end());
  check_disk(checked.plan, folder);
  return checked;
}

std::string out_of_memory_text(const Experiment& experiment, const Dataset& dataset, const std::string& stage) {
  Longest longest;
  for (const UsedSplit& used : dataset.used_splits()) longest.look_at(*used.split);
  return fmt::format(
      "memory ran out in stage {}: the longest example is {}; set data.max_length, lower score.batch_size{} or "
      "runtime.memory_mb, or give the process more memory",
      stage, longest.text(),
      stage == to_string(Stage::surgery) && times(experiment) ? ", surgery.timing.batch_sizes"
      : experiment.train                                      ? ", the training batch"
                                                              : "");
}

}  // namespace headprune
