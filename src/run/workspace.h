// What the stages of a run share: the decoded experiment, the run folder and its journal, the data, and one seed's
// model. Filled from left to right; no stage reaches back.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/journal.h"
#include "record/run_folder.h"
#include "record/status.h"
#include "record/train_log.h"
#include "report/tensorboard/live_tensorboard.h"
#include "run/experiment.h"
#include "run/progress.h"
#include "task/mask_evaluator.h"
#include "train/trainer.h"

namespace headprune {

/// Options of `headprune run`.
struct RunOptions {
  std::filesystem::path out;  // --out: exactly this run folder
  bool fresh = false;         // --new
  bool smoke = false;
  bool accept_fingerprint = false;
  bool retry_failed = false;
  bool fail_fast = false;
  int64_t max_failures = 0;  // 0 = no limit
  std::optional<Stage> until, from;
  std::vector<std::string> argv, overrides;
};

/// Training steps of --smoke.
inline constexpr int64_t kSmokeSteps = 2;

/// One score method as the experiment names it.
struct NamedMethod {
  std::string label;
  std::shared_ptr<const ScoreMethod> method;
};

/// One analysis as the experiment names it.
struct NamedAnalysis {
  std::string label;
  std::shared_ptr<const Analysis> analysis;
};

/// Shared by all seeds.
struct Workspace {
  const Experiment& experiment;
  const RunOptions& options;
  std::string experiment_id;
  std::filesystem::path folder;
  std::string config_yaml;
  Journal& journal;
  StatusFile& status;
  TrainLog& train_log;
  std::optional<LiveTensorBoard>& tensorboard;  // where report.formats has it
  RunProgress& progress;

  Dataset dataset = {};
  std::shared_ptr<const Task> task = nullptr;
  std::vector<NamedMethod> methods = {};
  std::vector<NamedAnalysis> analyses = {};
  torch::Device device = torch::kCPU;
  std::vector<Batch> score_batches = {}, analysis_batches = {}, select_batches = {}, report_batches = {};
  int64_t report_length = 0;         // longest example of the report split; of a translation, longest source
  int64_t report_target_length = 0;  // translation: longest target
  PointCounts points = {};

  /// A row of train.jsonl, and of TensorBoard where that is asked for. `training`: of a sweep; empty: the seed's own.
  void log_training(int64_t seed, const std::string& training, const TrainPoint& row);
  const ScoreMethod& method(const std::string& label) const;
  /// Bytes that the masks of one evaluator may share: there are three at a time, of the report split, of the select
  /// split and of scores or of a model that lost heads.
  int64_t mask_memory() const { return experiment.runtime.memory_mb * 1024 * 1024 / 3; }
  /// `pieces` of a kind of work are done: the estimate of what is left moves on, here and in status.json.
  void advance(Work kind, double pieces);
  /// The training step that this run takes for one that the experiment names: with --smoke training ends early.
  int64_t training_step(int64_t step) const;
};

/// A model that no stage changes, and what is known of it on the report split.
class IntactModel {
 public:
  /// Passes that its masks share are kept while they take at most `memory` bytes.
  IntactModel(const Workspace& workspace, std::shared_ptr<TransformerModel> model, int64_t memory);

  const std::shared_ptr<TransformerModel>& model() const { return model_; }
  /// The outcomes of the report split without the heads of `removed`, texts included.
  Outcomes evaluate(const HeadSet& removed);
  /// Those without a removed head, computed when first needed.
  const Outcomes& base();
  bool knows_base() const { return base_.has_value(); }

 private:
  const Workspace& workspace_;
  std::shared_ptr<TransformerModel> model_;
  MaskEvaluator masks_;
  std::optional<Outcomes> base_;
};

/// One repetition.
struct SeedRun {
  Workspace& workspace;
  int64_t seed = 0;
  std::optional<IntactModel> intact = {};  // what the run ends with, once it is there: rules that train work on copies
  int64_t trained_steps = 0;               // of its training, over all attempts
  Blocks blocks = {};                      // of the intact model
  std::optional<MaskEvaluator> select_masks = {};

  TransformerModel& model() const { return *intact->model(); }
  void set_model(std::shared_ptr<TransformerModel> model);
};

/// A stage's passes, for its stage_done.
struct Passes {
  int64_t forward = 0, backward = 0;

  Passes& operator+=(const Passes& other) {
    forward += other.forward;
    backward += other.backward;
    return *this;
  }
};

/// Announces a stage in journal and status, runs `work` (which returns its Passes) and records what it took.
template <class Work>
void run_stage(Workspace& workspace, Stage stage, std::optional<int64_t> seed, Work work) {
  workspace.status.set_stage(to_string(stage));
  workspace.journal.stage_start({to_string(stage), seed});
  const auto start = std::chrono::steady_clock::now();
  const Passes passes = work();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  workspace.journal.stage_done({to_string(stage), seed, seconds, passes.forward, passes.backward});
}

}  // namespace headprune
