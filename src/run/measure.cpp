#include "run/measure.h"

#include "core/hash.h"
#include "core/random.h"
#include "model/cost.h"
#include "record/example_values.h"
#include "record/samples.h"

namespace headprune {

namespace {

std::string sample_hash(const Example& example) {
  Sha256 hash;
  for (const int64_t id : example.tokens) hash.update(std::to_string(id) + " ");
  if (!example.decoder_tokens.empty()) hash.update("| ");  // a translation is both of its texts
  for (const int64_t id : example.decoder_tokens) hash.update(std::to_string(id) + " ");
  return hash.hex();
}

std::vector<Sample> samples_of(const Outcomes& outcomes, const Split& split) {
  std::vector<Sample> samples;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    Sample sample;
    sample.doc_id = static_cast<int64_t>(i);
    sample.doc_hash = sample_hash(split.examples[i]);
    sample.loss = outcomes[i].loss;
    if (outcomes[i].target >= 0) {
      sample.target = outcomes[i].target;
      sample.pred = outcomes[i].predicted;
      sample.correct = outcomes[i].target == outcomes[i].predicted;
      sample.logits = outcomes[i].choices;
    } else if (outcomes[i].number) {
      sample.target = *outcomes[i].number;
      sample.pred = measurement_json(outcomes[i].predicted_number);
    } else if (!outcomes[i].reference.empty()) {
      sample.target = outcomes[i].reference;
      sample.pred = outcomes[i].text;
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace

PointResult described(const SeedRun& run, Model& model, const Point& point) {
  const Workspace& workspace = run.workspace;
  PointResult result;
  static_cast<Point&>(result) = point;
  result.point = point_id(workspace.experiment_id, point.spec);
  result.mask = mask_sha256(run.blocks, point.removed);
  const ModelCost cost = model_cost(model, point.removed, {workspace.report_length, workspace.report_target_length});
  result.params = cost.params;
  result.attention_flops_per_token = cost.attention_flops_per_token;
  result.kv_cache_bytes_per_token = cost.kv_cache_bytes_per_token;
  result.split = "report";
  return result;
}

void add_metrics(const SeedRun& run, const Outcomes& outcomes, const Outcomes* base, PointResult& result) {
  const Workspace& workspace = run.workspace;
  result.metrics = workspace.task->evaluate({.outcomes = outcomes,
                                             .base = base,
                                             .bootstrap_iters = workspace.experiment.report.bootstrap_iters,
                                             .seed = stream_seed(static_cast<uint64_t>(run.seed), "bootstrap")});
  result.examples_sha256 = write_example_values(workspace.folder, result.metrics);
  if (workspace.experiment.output.samples)
    result.samples_sha256 =
        write_samples(workspace.folder, result.point, samples_of(outcomes, *workspace.dataset.report));
}

}  // namespace headprune
