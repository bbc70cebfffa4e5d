// Stands between rules and the record: evaluates the masks that a rule asks for, and knows what is done.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "prune/rule.h"
#include "run/recorded_scores.h"
#include "run/workspace.h"

namespace headprune {

/// Folder of the checkpoints that sweeps fine-tune, inside the seed's train folder; gone once every sweep is done.
inline constexpr const char* kSweepCheckpoints = "sweeps";

class Host final : public RuleHost {
 public:
  /// `label`: of the sweep or table, for people. `intact`: the model that the rule is about, before it removes a head.
  Host(SeedRun& run, const IntactScores& scores, IntactModel& intact, std::string label = "unpruned model");

  bool done(const PointSpec& spec) const override;
  void begin(const Unit& unit) override;
  void evaluate(Model& model, const PlannedPoint& point) override;
  /// Points of a plan that are not done.
  int64_t left_of(const RulePlan& plan) const;
  /// Records that a point cannot be evaluated.
  void give_up(const PointSpec& spec, const std::string& reason, const std::string& message);
  Importance intact_scores(const RankedBy& by) override;
  Importance score_again(Model& model, const Rescoring& how) override;
  std::pair<int64_t, int64_t> fine_tune(Model& model, const HeadSet& removed, const FineTuning& how) override;
  std::pair<int64_t, int64_t> learn_gates(Model& model, const GateLearning& how) override;
  ScoreInput score_input(Model& model, const HeadSet& removed, HeadUnit unit) override;
  int64_t steps(int64_t wanted) const override;
  uint64_t stream(const std::string& name) const override;
  void record(LearnedHeads found) override;
  void warn(const std::string& code, const std::string& message) override;
  std::optional<Point> recorded(const PointSpec& spec) const override;
  SelectValues select(const HeadSet& gone, const std::vector<HeadSet>& masks) override;
  std::shared_ptr<Model> converted(int64_t groups, GroupInit init) override;

  /// Passes over batches that this attempt spent.
  Passes passes() const { return passes_; }

 private:
  TrainRequest sweep_training(Model& model, const std::string& name, int64_t wanted);
  std::pair<int64_t, int64_t> train_in_sweep(const TrainRequest& request, int64_t wanted);
  void measure(Model& model, PointResult& result);
  void keep_weights(const Model& model, PointResult& result) const;
  void failed(const PointSpec& spec, const std::string& reason, const std::string& message);
  bool enough_for_smoke(const PointSpec& spec);
  void say();

  SeedRun& run_;
  Workspace& workspace_;
  const IntactScores& scores_;
  IntactModel& intact_;
  std::string label_, unit_;
  std::map<std::string, int64_t> smoke_counts_;
  Passes passes_;
};

}  // namespace headprune
