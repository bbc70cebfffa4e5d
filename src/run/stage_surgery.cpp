#include <algorithm>
#include <cmath>

#include "core/log.h"
#include "core/stop.h"
#include "model/exact_difference.h"
#include "record/journal.h"
#include "run/stages.h"

namespace headprune {

namespace {

/// Logits of float32 agree to this, relative to the largest logit where that exceeds 1.
constexpr double kTolerance = 1e-5;

bool on_last_weights(const PointResult& point) { return !point.fine_tuned && !point.spec.at_step; }

/// The first sweep with points on the weights that the run ends with, which are what is timed.
std::string chosen_sweep(const Record& record, const SeedRun& run) {
  for (const auto& item : run.workspace.experiment.prune.sweeps)
    for (const auto& [id, point] : record.points)
      if (point.spec.seed == run.seed && point.spec.sweep == item.label && on_last_weights(point)) return item.label;
  return "";
}

/// The points of that sweep's first method whose fractions are nearest to those asked for, each once.
std::vector<PointResult> chosen_points(const Record& record, const SeedRun& run) {
  const Experiment& experiment = run.workspace.experiment;
  std::vector<PointResult> chosen;
  const std::string sweep = chosen_sweep(record, run);
  if (sweep.empty()) return chosen;
  std::vector<const PointResult*> curve;
  for (const auto& [id, point] : record.points)
    if (point.spec.seed == run.seed && point.spec.sweep == sweep && on_last_weights(point) &&
        point.spec.draw.value_or(0) == 0)
      curve.push_back(&point);
  std::string method;
  for (const NamedMethod& named : run.workspace.methods)
    if (method.empty() && std::any_of(curve.begin(), curve.end(),
                                      [&](const PointResult* point) { return point->spec.method == named.label; }))
      method = named.label;
  for (const double fraction : experiment.surgery.fractions) {
    const PointResult* nearest = nullptr;
    for (const PointResult* point : curve)
      if (point->spec.method == method &&
          (!nearest || std::abs(point->fraction - fraction) < std::abs(nearest->fraction - fraction)))
        nearest = point;
    if (nearest && std::none_of(chosen.begin(), chosen.end(),
                                [&](const PointResult& other) { return other.point == nearest->point; }))
      chosen.push_back(*nearest);
  }
  return chosen;
}

/// max |masked - removed| over every logit of the report split in float32, and the tolerance for logits of this size.
/// Where that is exceeded, sums in another order may be all that differs in a deep model: the worst batch decides in
/// float64.
SurgeryResult compare_forms(const SeedRun& run, TransformerModel& removed, const PointResult& point) {
  const torch::NoGradGuard no_grad;
  const Products in_float32{.library = run.model().products().library, .type = ComputeType::float32};
  const WithProducts exact(run.model(), in_float32), exact_too(removed, in_float32);
  double difference = 0, largest = 1;
  bool finite = true;
  const Batch* worst = nullptr;
  HeadProbe probe;
  probe.gates = mask_gates(run.blocks, point.removed, run.workspace.device);
  for (const Batch& batch : run.workspace.report_batches) {
    check_stop();
    const torch::Tensor masked = run.model().forward(batch, probe).values;
    const torch::Tensor logits = removed.forward(batch).values;
    // A padded position of a language model predicts nothing; what stands there is compared all the same.
    const double here = (masked - logits).abs().max().item<double>();
    if (here > difference) worst = &batch;
    difference = std::max(difference, here);
    largest = std::max(largest, masked.abs().max().item<double>());
    finite = finite && std::isfinite(difference) && std::isfinite(largest);
  }
  const double tolerance = kTolerance * largest;
  if (!finite || difference <= tolerance || worst == nullptr) return {point.point, difference, tolerance, finite};
  const ExactDifference wide = exact_difference(run.model(), probe.gates, removed, *worst);
  log_info("[surgery] seed {}: float32 differs by {:.2g}, more than {:.2g}; the same in float64 by {:.2g}", run.seed,
           difference, tolerance, wide.difference);
  return {point.point, wide.difference, wide.tolerance, wide.equal()};
}

/// Tokens of a split, one example after the other, without end.
class TokenStream {
 public:
  TokenStream(const Split& split, std::vector<int64_t> Example::*tokens) {
    for (const Example& example : split.examples)
      all_.insert(all_.end(), (example.*tokens).begin(), (example.*tokens).end());
  }
  std::vector<int64_t> take(int64_t count) {
    std::vector<int64_t> taken;
    for (int64_t i = 0; i < count; ++i) taken.push_back(all_[next_++ % all_.size()]);
    return taken;
  }

 private:
  std::vector<int64_t> all_;
  size_t next_ = 0;
};

/// A batch without padding: `size` sequences of `length` tokens (of a translation, on both sides) taken from the report
/// split.
Batch timing_batch(const Workspace& workspace, int64_t size, int64_t length) {
  const DataKind kind = workspace.dataset.kind;
  TokenStream tokens(*workspace.dataset.report, &Example::tokens);
  TokenStream decoder_tokens(*workspace.dataset.report, &Example::decoder_tokens);
  std::vector<Example> examples(static_cast<size_t>(size));
  std::vector<int64_t> indices;
  for (Example& example : examples) {
    example.tokens = tokens.take(length);
    if (kind == DataKind::translation) example.decoder_tokens = decoder_tokens.take(length);
    if (is_language(kind) || kind == DataKind::translation)
      example.targets.assign(static_cast<size_t>(length), kNoTarget);
    else
      example.label = 0;
    indices.push_back(static_cast<int64_t>(indices.size()));
  }
  return make_batch(examples, indices, workspace.device);
}

/// Whether an earlier attempt timed this point at this batch size.
bool timed_before(const Record& record, const PointResult& point, int64_t batch_size, int64_t length) {
  return record.timing.count({point.point, "removed", batch_size, length}) > 0;
}

int64_t timed_length(const Workspace& workspace) {
  const int64_t wanted = workspace.experiment.surgery.timing.sequence_length;
  return wanted > 0 ? wanted : workspace.report_length;
}

/// Intact, masked and removed alternate, so that a slow moment of the machine hits all three.
Passes time_forms(const SeedRun& run, Model& removed, const PointResult& point, int64_t batch_size) {
  Workspace& workspace = run.workspace;
  const TimingSection& options = workspace.experiment.surgery.timing;
  const torch::NoGradGuard no_grad;
  const int64_t length = timed_length(workspace);
  const Batch batch = timing_batch(workspace, batch_size, length);
  HeadProbe probe;
  probe.gates = mask_gates(run.blocks, point.removed, workspace.device);
  workspace.progress.say(fmt::format("[surgery] seed {}: timing {} heads removed, batch size {}", run.seed,
                                     point.removed.size(), batch_size));
  std::vector<TimingResult> forms;
  for (const char* form : {"intact", "masked", "removed"})
    forms.push_back({point.point, form, batch_size, length, options.warmup, {}});
  for (int64_t repeat = -options.warmup; repeat < options.repeats; ++repeat) {
    for (TimingResult& form : forms) {
      check_stop();
      const auto start = std::chrono::steady_clock::now();
      // .item() waits for an accelerator to finish.
      const ModelOutput output = form.form == "removed"  ? removed.forward(batch)
                                 : form.form == "masked" ? run.model().forward(batch, probe)
                                                         : run.model().forward(batch);
      output.values.sum().item<double>();
      if (repeat >= 0)
        form.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    workspace.advance(Work::timed_batch, 3);
  }
  for (const TimingResult& form : forms) workspace.journal.timing(form);
  return {3 * (options.warmup + options.repeats), 0};
}

}  // namespace

Passes surgery_stage(SeedRun& run) {
  Workspace& workspace = run.workspace;
  const Record& record = workspace.journal.record();
  Passes passes;
  const std::vector<PointResult> points = chosen_points(record, run);
  if (points.empty() && !workspace.experiment.prune.sweeps.empty() && !workspace.experiment.surgery.fractions.empty())
    workspace.journal.warn({"surgery",
                            "no sweep is about the weights that the run ends with: no heads were removed for "
                            "real and nothing was timed"});
  for (const PointResult& point : points) {
    const auto removed = run.model().clone();
    removed->remove_heads(point.removed);
    removed->eval();
    if (!record.surgery.contains(point.point) || record.surgery_again.contains(point.point)) {
      workspace.progress.say(fmt::format("[surgery] seed {}: comparing {} heads removed with masked ones", run.seed,
                                         point.removed.size()));
      const SurgeryResult result = compare_forms(run, *removed, point);
      workspace.advance(Work::point, 2);
      passes.forward += 2 * static_cast<int64_t>(workspace.report_batches.size());
      workspace.journal.surgery(result);
      log_info("[surgery] seed {}: {} heads removed for real, logits differ from masking by at most {:.2g}", run.seed,
               point.removed.size(), result.max_abs_diff);
      if (!result.ok)
        fail(ExitCode::run_failed,
             "removing heads of point {} changed the logits by {:.3g}, more than {:.3g}: this is a bug in headprune or "
             "a non-finite model; nothing after the surgery stage was run",
             point.point, result.max_abs_diff, result.tolerance);
    }
    for (const int64_t batch_size : workspace.experiment.surgery.timing.batch_sizes) {
      if (timed_before(record, point, batch_size, timed_length(workspace))) continue;
      const Passes timed = time_forms(run, *removed, point, batch_size);
      passes.forward += timed.forward;
    }
    workspace.status.heartbeat();
  }
  return passes;
}

}  // namespace headprune
