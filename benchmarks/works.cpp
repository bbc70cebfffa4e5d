#include "benchmarks/work.h"
#include "core/files.h"
#include "core/random.h"
#include "model/cost.h"
#include "model/greedy.h"
#include "run/fingerprint.h"
#include "run/plan.h"
#include "score/score.h"
#include "task/mask_evaluator.h"
#include "prune/hard_concrete_gates.h"
#include "train/trainer.h"

namespace headprune::bench {
namespace {

/// What a work on a loaded or random model needs; lives as long as the work.
struct Bench {
  const Experiment& experiment;
  Dataset dataset;
  std::shared_ptr<const Task> task;
  std::shared_ptr<TransformerModel> model;
  std::vector<Batch> batches;  // of the report split
};

/// Examples of one length with random tokens, half of each label.
Split random_split(int64_t examples, int64_t length, int64_t vocabulary) {
  Random random(1);
  Split split;
  split.name = "train";
  split.examples.resize(static_cast<size_t>(examples));
  for (size_t i = 0; i < split.examples.size(); ++i) {
    split.examples[i].label = static_cast<int64_t>(i % 2);
    for (int64_t t = 0; t < length; ++t)
      split.examples[i].tokens.push_back(static_cast<int64_t>(random.below(static_cast<uint64_t>(vocabulary))));
  }
  return split;
}

std::shared_ptr<Bench> prepare(const WorkInput& input) {
  const Experiment& experiment = input.loaded.value;
  const auto bench = std::make_shared<Bench>(Bench{experiment, {}, experiment.task.make(), nullptr, {}});
  ModelInput wanted;
  if (input.settings.contains("examples")) {  // made up, of one length
    const auto vocabulary = input.settings.at("vocabulary").get<int64_t>();
    const auto length = input.settings.at("length").get<int64_t>();
    bench->dataset.train = bench->dataset.report =
        std::make_shared<Split>(random_split(input.settings.at("examples").get<int64_t>(), length, vocabulary));
    bench->dataset.labels = {"0", "1"};
    wanted = {.vocabulary_size = vocabulary,
              .outputs = 2,
              .labels = bench->dataset.labels,
              .trains = true,
              .max_length = length};
  } else {
    bench->dataset = load_dataset(experiment);
    if (input.settings.contains("limit")) {
      Split first = *bench->dataset.report;
      first.examples.resize(std::min(first.examples.size(), input.settings.at("limit").get<size_t>()));
      bench->dataset.report = std::make_shared<Split>(first);
    }
    wanted = model_input(experiment, bench->dataset);
  }
  wanted.seed = 1;
  bench->model = experiment.family()->build(wanted);
  bench->model->use(products_of(experiment.runtime));
  bench->model->eval();
  bench->batches = make_batches(*bench->dataset.report, {.examples = experiment.score.batch_size}, torch::kCPU);
  return bench;
}

int64_t memory(const Bench& bench) { return bench.experiment.runtime.memory_mb * 1024 * 1024; }

Json values_json(const PerBlock& values) {
  Json all = Json::array();
  for (const torch::Tensor& block : values)
    for (int64_t i = 0; i < block.numel(); ++i) all.push_back(block[i].item<double>());
  return all;
}

/// Every method of the experiment.
Work score(const WorkInput& input) {
  return [bench = prepare(input)] {
    std::vector<std::shared_ptr<const ScoreMethod>> methods;
    std::vector<ScoreRequest> requests;
    for (const auto& item : bench->experiment.score.methods) {
      methods.push_back(item.make());
      requests.push_back({methods.back().get(), item.label, 0});
    }
    const HeadSet none;
    const ScoreInput scored{
        *bench->model, *bench->task, bench->batches, std::ssize(bench->dataset.report->examples), none, 1};
    return values_json(importance(requests, scored).front().values);
  };
}

Json evaluate_all(const Bench& bench, const std::vector<HeadSet>& masks) {
  MaskEvaluator evaluator(*bench.model, *bench.task, bench.batches, memory(bench));
  Json all = Json::array();
  for (const HeadSet& removed : masks) {
    double loss = 0;
    const Outcomes outcomes = evaluator.evaluate(removed);
    for (const Outcome& outcome : outcomes) loss += outcome.loss / static_cast<double>(outcomes.size());
    all.push_back(loss);
  }
  return all;
}

/// The masks of a file, lists of [layer, head], one after another.
Work masks(const WorkInput& input) {
  const fs::path file = input.settings.at("masks").get<std::string>();
  const auto bench = prepare(input);
  const Kind kind = bench->model->blocks().front().id.kind;
  std::vector<HeadSet> all;
  for (const Json& mask : parse_json(read_file(file), file.string())) {
    std::vector<HeadId> heads;
    for (const Json& head : mask) heads.push_back({{kind, head[0].get<int64_t>()}, head[1].get<int64_t>()});
    all.emplace_back(heads);
  }
  return [bench, all] { return evaluate_all(*bench, all); };
}

/// The training of the experiment from random weights; gives its steps. With "gates" hard-concrete gates of all heads are
/// learnt in it, and the weights stay as they are.
Work training(const WorkInput& input) {
  return [bench = prepare(input), learns_gates = input.settings.contains("gates")] {
    const auto model = bench->model->copy();
    const GateUnits units(GateOptions(), model->blocks());
    HardConcreteGates gates(units, {.lambdas = torch::full({units.count()}, 0.01, torch::kFloat64), .seed = 1});
    const TrainResult result = train({.model = *model,
                                      .task = *bench->task,
                                      .dataset = bench->dataset,
                                      .options = *bench->experiment.train,
                                      .gates = {learns_gates ? &gates : nullptr, 0.05},
                                      .seed = 1,
                                      .evaluate = false});
    return Json(result.steps);
  };
}

/// One batch forward, intact or, with "remove", without that share of each block's heads; gives the model's FLOPs.
Work forward(const WorkInput& input) {
  const auto bench = prepare(input);
  const double share = input.settings.value("remove", 0.0);
  HeadSet removed;
  for (const BlockHeads& block : bench->model->blocks())
    for (int64_t h = 0; h < static_cast<int64_t>(share * static_cast<double>(block.count())); ++h)
      removed.insert({block.id, block.heads[static_cast<size_t>(h)]});
  bench->model->remove_heads(removed);
  return [bench] {
    const FrozenModel frozen(*bench->model);
    const torch::NoGradGuard no_grad;
    for (const Batch& batch : bench->batches) bench->model->forward(batch).values.sum().item<double>();
    const Batch& batch = bench->batches.front();
    const ModelCost cost = model_cost(*bench->model, {}, {batch.tokens.size(1)});
    return Json({{"attention_flops_per_token", cost.attention_flops_per_token}, {"parameters", cost.params}});
  };
}

/// The examples themselves, for a side that has no tokenizer of ours.
Work tokens(const WorkInput& input) {
  return [bench = prepare(input)] {
    Json all = Json::array();
    for (const Example& example : bench->dataset.report->examples)
      all.push_back({{"tokens", example.tokens}, {"targets", example.targets}});
    return all;
  };
}

/// What follows the examples, `tokens` tokens each, by the likeliest one.
Work generate(const WorkInput& input) {
  const auto bench = prepare(input);
  return [bench, most = input.settings.at("tokens").get<int64_t>()] {
    const FrozenModel frozen(*bench->model);
    Json all = Json::array();
    for (const Batch& batch : bench->batches)
      for (const auto& text : continue_texts(*bench->model->writer(), batch, {}, {.ends = {}, .most = most}))
        all.push_back(text);
    return all;
  };
}

}  // namespace

std::map<std::string, std::function<Work(const WorkInput&)>> all_works() {
  return {{"score", score}, {"masks", masks}, {"train", training}, {"forward", forward}, {"tokens", tokens}, {"generate", generate}};
}

}  // namespace headprune::bench
