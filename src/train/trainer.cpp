#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "core/open_file.h"
#include "core/random.h"
#include "core/stop.h"
#include "core/text.h"
#include "task/mask_evaluator.h"
#include "train/gate_learner.h"
#include "train/generator.h"
#include "train/optimizer.h"
#include "train/schedule.h"

namespace headprune {
namespace {

using Measurements = std::vector<std::pair<std::string, double>>;

/// "3, 17, 4" of at most 16 indices, with the number of others.
std::string examples_text(const std::vector<int64_t>& examples) {
  constexpr size_t kShown = 16;
  std::vector<std::string> parts;
  for (size_t i = 0; i < std::min(kShown, examples.size()); ++i) parts.push_back(std::to_string(examples[i]));
  std::string text = join(parts, ", ");
  if (examples.size() > kShown) text += fmt::format(" and {} others", examples.size() - kShown);
  return text;
}

/// "nan" of either sign, "inf" or "-inf".
std::string nonfinite_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

class Trainer {
 public:
  explicit Trainer(const TrainRequest& request);
  TrainResult run();

 private:
  void begin();
  void restore(const fs::path& checkpoint);
  void check_same_training(const TrainState& stored, const fs::path& checkpoint) const;
  bool at_interval(int64_t interval) const;
  bool evaluation_due() const;
  bool done() const;
  bool stopped_early() const;
  void evaluate();
  void step();
  double add_gradients(const Batch& batch, double share);
  [[noreturn]] void refuse_step(const std::string& name, double value, const std::vector<int64_t>& examples);
  [[noreturn]] void refuse_loss(const Batch& batch, const ModelOutput& output, double loss);
  void count_step(double loss, Measurements measured);
  void save();
  void load_best();
  void record(const char* split, const Measurements& measured);
  void send_row(const char* split, const std::string& name, double value, int64_t step) const;
  void repeat_rows() const;
  void show_progress(double loss);
  void warn(const std::string& text) const;

  const TrainRequest& request_;
  const TrainOptions& options_;
  Model& model_;
  torch::Device device_;
  std::optional<FrozenModel> frozen_;
  Optimizer optimizer_;
  HeadProbe probe_;
  std::optional<GateLearner> gates_;
  TrainState state_;
  TrainBatches batches_;
  std::vector<Batch> select_;
  MetricInfo headline_;
  bool gained_ = false;  // the last evaluation was the best so far, and is not saved yet
  bool changed_ = true;  // state_ differs from the newest checkpoint
  NamedTensors best_;    // weights of the best evaluation, where no checkpoints are kept
  double started_ = monotonic_seconds();
  int64_t first_step_ = 0, tokens_ = 0;
};

const std::vector<Example>& train_examples(const Dataset& data) {
  if (!data.train || data.train->examples.empty())
    fail(ExitCode::run_failed, "the train split of {} has no examples to train on", data.name);
  return data.train->examples;
}

Trainer::Trainer(const TrainRequest& request)
    : request_(request),
      options_(request.options),
      model_(request.model),
      device_(model_.parameters().front().device()),
      optimizer_(model_, options_),
      batches_(train_examples(request.dataset), options_, device_),
      headline_(request.task.chosen_by()) {
  if (!request.removed.empty()) probe_.gates = mask_gates(model_.blocks(), request.removed, device_);
  if (request.gates.source != nullptr) {
    TORCH_CHECK(request.removed.empty(), "gates are either learnt or of a mask");
    gates_.emplace(*request.gates.source, device_);
    optimizer_.add(gates_->parameters(), request.gates.learning_rate);
    if (request.gates.weights_frozen()) frozen_.emplace(model_);
  }
  if (request.evaluate && request.dataset.select)
    select_ = make_batches(*request.dataset.select, batch_plan(options_), device_);
  state_.max_steps = planned_steps(request.dataset.train->examples, options_, request.seed);
  state_.cursor.order_seed = order_seed(request.seed);
}

TrainResult Trainer::run() {
  // Once: one that is deleted under the program is not to come back half.
  if (!request_.folder.empty()) make_folders(request_.folder);
  const auto checkpoint = newest_checkpoint(request_.folder, [this](const std::string& text) { warn(text); });
  if (checkpoint)
    restore(*checkpoint);
  else
    begin();
  first_step_ = state_.global_step;

  while (!state_.finished) {
    if (request_.on_step) request_.on_step(state_.global_step);
    if (evaluation_due()) evaluate();
    if (done()) {
      state_.finished = changed_ = true;
      save();
      break;
    }
    if (gained_ || at_interval(options_.save_steps)) save();
    if (stop_requested()) {
      save();
      check_stop();
    }
    step();
  }
  if (options_.load_best_model_at_end) load_best();
  optimizer_.zero_grad();
  frozen_.reset();
  model_.eval();
  return {.steps = state_.global_step,
          .steps_here = state_.global_step - first_step_,
          .epoch = state_.epoch,
          .best_metric = state_.best_metric,
          .best_step = state_.best_step,
          .stopped_early = stopped_early(),
          .forward = state_.forward,
          .backward = state_.backward,
          .log_history = state_.log_history};
}

void Trainer::begin() {
  seed_generators(stream_seed(request_.seed, "dropout"), device_);
  if (request_.optimizer_from.empty()) return;
  const auto earlier = newest_checkpoint(request_.optimizer_from, [this](const std::string& text) { warn(text); });
  if (!earlier)
    fail(ExitCode::run_failed, "{} holds no checkpoint, whose optimizer was to go on; --from prune trains again",
         request_.optimizer_from.string());
  optimizer_.load_state(read_tensors(*earlier / "optimizer.safetensors"), earlier->string());
}

void Trainer::restore(const fs::path& checkpoint) {
  const std::string where = checkpoint.string();
  const TrainState stored = TrainState::from_json(read_json(checkpoint / "state.json"), where);
  check_same_training(stored, checkpoint);
  state_ = stored;
  if (!frozen_) load_state(model_, read_tensors(checkpoint / "model.safetensors"), where);
  if (gates_) gates_->load(read_tensors(checkpoint / "gates.safetensors"), where);
  optimizer_.load_state(read_tensors(checkpoint / "optimizer.safetensors"), where);
  restore_generators(read_tensors(checkpoint / "rng.safetensors"), device_, where);
  changed_ = false;
  log_info("[train] continuing at step {}/{} from {}", state_.global_step, state_.max_steps, where);
  if (!state_.finished && evaluation_due()) repeat_rows();
}

void Trainer::check_same_training(const TrainState& stored, const fs::path& checkpoint) const {
  const fs::path mask = checkpoint / "mask.json";
  const HeadSet removed = fs::exists(mask) ? HeadSet::from_json(read_json(mask)) : HeadSet();
  if (stored.max_steps != state_.max_steps || stored.cursor.order_seed != state_.cursor.order_seed ||
      removed != request_.removed)
    fail(ExitCode::run_failed,
         "{} belongs to another training ({} steps, order seed {}, {} heads removed; this one: {}, {}, {}); delete it "
         "or use another folder",
         checkpoint.string(), stored.max_steps, stored.cursor.order_seed, removed.size(), state_.max_steps,
         state_.cursor.order_seed, request_.removed.size());
}

/// Whether the present step is a multiple of `interval`, or ends an epoch where `interval` is 0.
bool Trainer::at_interval(int64_t interval) const {
  if (state_.global_step == 0) return false;
  return interval > 0 ? state_.global_step % interval == 0 : state_.cursor.index == 0;
}

bool Trainer::evaluation_due() const {
  if (select_.empty() || state_.global_step == state_.evaluated_step) return false;
  return state_.global_step >= state_.max_steps || at_interval(options_.eval_steps);
}

bool Trainer::stopped_early() const {
  return options_.early_stopping_patience > 0 && state_.without_gain >= options_.early_stopping_patience;
}

bool Trainer::done() const { return state_.global_step >= state_.max_steps || stopped_early(); }

void Trainer::evaluate() {
  Outcomes outcomes;
  try {
    outcomes = MaskEvaluator(model_, request_.task, select_, /*memory=*/0).evaluate(request_.removed);
  } catch (const Interrupted&) {
    save();  // continuing evaluates these weights first
    throw;
  }
  const double headline = request_.task.choice_value(outcomes);
  const double loss = loss_value(outcomes);
  state_.forward += std::ssize(select_);
  state_.evaluated_step = state_.global_step;
  changed_ = true;
  Measurements measured = {{headline_.name.c_str(), headline}};
  if (headline_.name != "loss") measured.emplace_back("loss", loss);
  record("select", measured);
  log_info("[train] step {}/{} select {} {:.4f} loss {:.4f}", state_.global_step, state_.max_steps, headline_.name,
           headline, loss);

  gained_ = std::isfinite(headline) &&
            (!state_.best_metric ||
             (headline_.higher_is_better ? headline > *state_.best_metric : headline < *state_.best_metric));
  state_.without_gain = gained_ ? 0 : state_.without_gain + 1;
  if (!gained_) return;
  state_.best_metric = headline;
  state_.best_step = state_.global_step;
  if (request_.folder.empty() && options_.load_best_model_at_end)
    for (const auto& [name, tensor] : headprune::state(model_)) best_[name] = tensor.detach().clone();
}

void Trainer::step() {
  if (!frozen_) model_.train();
  const std::vector<Batch> batches = batches_.next(state_.cursor);
  state_.epoch = batches_.epochs(state_.cursor);
  std::vector<int64_t> examples, positions;
  int64_t all_positions = 0;
  for (const Batch& batch : batches) {
    examples.insert(examples.end(), batch.examples.begin(), batch.examples.end());
    all_positions += positions.emplace_back(loss_positions(batch));
    tokens_ += batch.present.sum().item<int64_t>();
    if (batch.decoder_present.defined()) tokens_ += batch.decoder_present.sum().item<int64_t>();
  }
  optimizer_.zero_grad();
  if (gates_) probe_.gates = gates_->open(state_.global_step);
  double loss = 0;
  for (size_t i = 0; i < batches.size(); ++i)
    if (positions[i] > 0)
      loss += add_gradients(batches[i], static_cast<double>(positions[i]) / static_cast<double>(all_positions));

  const double rate = learning_rate(options_, state_.global_step, state_.max_steps);
  Measurements measured;
  if (!frozen_) measured = {{"learning_rate", rate}, {"grad_norm", optimizer_.clip(options_.max_grad_norm)}};
  if (gates_)
    for (auto& one : gates_->close()) measured.push_back(std::move(one));
  for (const auto& [name, value] : measured)
    if (!std::isfinite(value)) refuse_step(name, value, examples);
  optimizer_.step(rate);
  if (gates_) gates_->confine();
  count_step(loss, std::move(measured));
}

void Trainer::refuse_step(const std::string& name, double value, const std::vector<int64_t>& examples) {
  send_row("train", name, value, state_.global_step + 1);
  const char* const what = name == "grad_norm" ? "the gradient norm" : name.c_str();
  fail(ExitCode::run_failed, "training stopped before step {}: {} is {} for examples {} of the train split; lower {}",
       state_.global_step + 1, what, nonfinite_text(value), examples_text(examples),
       name == "grad_norm" ? "train.learning_rate" : "the learning_rate of the gates");
}

/// Adds the gradients of share x the batch's loss, and returns that.
double Trainer::add_gradients(const Batch& batch, double share) {
  const ModelOutput output = model_.forward(batch, probe_);
  const torch::Tensor loss = request_.task.training_loss(output.values, batch, options_.label_smoothing_factor);
  const double value = loss.item<double>();
  if (!std::isfinite(value)) refuse_loss(batch, output, value);
  (loss * share).backward();
  ++state_.forward;
  ++state_.backward;
  return value * share;
}

void Trainer::refuse_loss(const Batch& batch, const ModelOutput& output, double loss) {
  const int64_t step = state_.global_step + 1;
  send_row("train", "loss", loss, step);
  torch::NoGradGuard no_gradients;
  const torch::Tensor finite = request_.task.example_losses(output.values, batch).isfinite().to(torch::kCPU);  // [B]
  std::vector<int64_t> culprits;
  for (int64_t i = 0; i < batch.size(); ++i)
    if (!finite[i].item<bool>()) culprits.push_back(batch.examples[static_cast<size_t>(i)]);
  fail(ExitCode::run_failed,
       "training stopped before step {}: the loss is {} for examples {} of the train split; lower "
       "train.learning_rate, or look for non-finite weights in a loaded model",
       step, nonfinite_text(loss), examples_text(culprits.empty() ? batch.examples : culprits));
}

void Trainer::count_step(double loss, Measurements measured) {
  ++state_.global_step;
  changed_ = true;
  state_.loss_sum += loss;
  ++state_.loss_steps;
  if (state_.global_step % options_.logging_steps == 0 || state_.global_step == state_.max_steps) {
    measured.insert(measured.begin(), {"loss", state_.loss_sum / static_cast<double>(state_.loss_steps)});
    record("train", measured);
    state_.loss_sum = 0;
    state_.loss_steps = 0;
  }
  show_progress(loss);
}

void Trainer::save() {
  if (!changed_) return;
  for (const auto& item : model_.named_parameters())
    if (!item.value().isfinite().all().item<bool>())
      fail(ExitCode::run_failed,
           "training stopped at step {}: '{}' has non-finite values, so no checkpoint is kept of it; lower "
           "train.learning_rate",
           state_.global_step, item.key());
  gained_ = changed_ = false;
  if (request_.folder.empty()) return;
  const std::string manifest =
      write_checkpoint(request_.folder, {.model = frozen_ ? nullptr : &model_,
                                         .gates = gates_ ? gates_->parameters() : NamedTensors(),
                                         .optimizer = optimizer_.state(),
                                         .generators = generator_states(device_),
                                         .state = state_,
                                         .removed = request_.removed,
                                         .config_yaml = request_.config_yaml});
  retire_checkpoints(request_.folder, state_, options_.save_total_limit);
  if (request_.on_checkpoint)
    request_.on_checkpoint({.step = state_.global_step,
                            .path = request_.folder / checkpoint_name(state_.global_step),
                            .manifest_sha256 = manifest});
}

void Trainer::load_best() {
  if (state_.best_step == 0)
    return warn("load_best_model_at_end: no evaluation gave a finite " + headline_.name + "; the last weights stay");
  if (state_.best_step == state_.global_step) return;
  if (request_.folder.empty()) return load_state(model_, best_, "the best evaluation");
  const fs::path best = request_.folder / checkpoint_name(state_.best_step);
  const std::string problem = verify_manifest(best);
  if (!problem.empty())
    fail(ExitCode::run_failed, "the best checkpoint {} cannot be loaded: {}; delete {} to train again", best.string(),
         problem, request_.folder.string());
  load_state(model_, read_tensors(best / "model.safetensors"), best.string());
}

/// Into the history, as transformers has it, and to the receiver.
void Trainer::record(const char* split, const Measurements& measured) {
  const std::string prefix = std::string_view(split) == "select" ? "eval_" : "";
  Json entry = {{"epoch", state_.epoch}};
  for (const auto& [name, value] : measured) entry[prefix + name] = number_or_null(value);
  entry["step"] = state_.global_step;
  state_.log_history.push_back(std::move(entry));
  for (const auto& [name, value] : measured) send_row(split, name, value, state_.global_step);
}

void Trainer::send_row(const char* split, const std::string& name, double value, int64_t step) const {
  if (!request_.sink) return;
  request_.sink({.step = step, .epoch = state_.epoch, .split = split, .name = name, .value = value});
}

/// This attempt begins with an evaluation of the step it continues from, which supersedes the rows that an earlier
/// attempt wrote for that step.
void Trainer::repeat_rows() const {
  for (const Json& entry : state_.log_history)
    if (entry.at("step") == state_.global_step && entry.contains("loss"))
      for (const auto& [name, value] : entry.items())
        if (name != "epoch" && name != "step") send_row("train", name, value.get<double>(), state_.global_step);
}

void Trainer::show_progress(double loss) {
  if (!request_.on_progress) return;
  const double seconds = monotonic_seconds() - started_;
  request_.on_progress({.step = state_.global_step,
                        .max_steps = state_.max_steps,
                        .loss = loss,
                        .tokens_per_second = static_cast<double>(tokens_) / std::max(seconds, 1e-9)});
}

void Trainer::warn(const std::string& text) const {
  log_warn("[train] {}", text);
  if (request_.on_warning) request_.on_warning(text);
}

}  // namespace

TrainResult train(const TrainRequest& request) { return Trainer(request).run(); }

uint64_t checkpoint_bytes(int64_t parameters, const TrainOptions& options) {
  return static_cast<uint64_t>(parameters) * 4 * 3 * static_cast<uint64_t>(options.save_total_limit + 2);
}

}  // namespace headprune
