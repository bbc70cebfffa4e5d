// A model that only has heads, and a host that only takes notes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "prune/learned.h"
#include "prune/sensitivity.h"
#include "support/catch_torch.h"
#include "support/folder.h"

namespace headprune::test {

/// `sizes[b]` heads in block b, all of one kind, or the blocks as given.
Blocks encoder_blocks(const std::vector<int64_t>& sizes);

/// For rules that ask for no scores.
inline double no_scores(const HeadId&, const HeadSet&, int64_t) { return 0; }

class HeadsOnly final : public Model {
 public:
  explicit HeadsOnly(Blocks blocks) : blocks_(std::move(blocks)) {}
  Blocks blocks() const override { return blocks_; }
  ModelOutput forward(const Batch&, const HeadProbe&) override { throw std::logic_error("not a real model"); }
  void remove_heads(const HeadSet&) override { throw std::logic_error("not a real model"); }
  Attention& attention(size_t) override { throw std::logic_error("not a real model"); }
  std::shared_ptr<Model> copy() const override {
    auto copied = std::make_shared<HeadsOnly>(blocks_);
    copied->steps_trained = steps_trained;
    return copied;
  }
  Json config() const override { return Json::object(); }

  int64_t steps_trained = 0;

 private:
  Blocks blocks_;
};

/// Scores come from `scores(removed, steps the model was trained)`, one value a head; costs are 10 and 20 a scoring.
class NotingHost : public RuleHost {
 public:
  using Scores = std::function<double(const HeadId&, const HeadSet& removed, int64_t trained)>;
  explicit NotingHost(Blocks blocks, Scores scores) : blocks_(std::move(blocks)), scores_(std::move(scores)) {}

  bool done(const PointSpec& spec) const override;
  void begin(const Unit& unit) override { units.push_back(unit.name); }
  void evaluate(Model& model, const PlannedPoint& point) override;
  Importance intact_scores(const RankedBy& by) override;
  Importance score_again(Model& model, const Rescoring& how) override;
  std::pair<int64_t, int64_t> fine_tune(Model& model, const HeadSet& removed, const FineTuning& how) override;
  std::pair<int64_t, int64_t> learn_gates(Model& model, const GateLearning& how) override;
  ScoreInput score_input(Model&, const HeadSet&, HeadUnit) override { throw std::logic_error("no data here"); }
  int64_t steps(int64_t wanted) const override { return wanted; }
  uint64_t stream(const std::string&) const override { return 9; }
  void record(LearnedHeads found) override;
  void warn(const std::string& code, const std::string& message) override;
  std::optional<Point> recorded(const PointSpec& spec) const override;
  SelectValues select(const HeadSet& gone, const std::vector<HeadSet>& masks) override;
  std::shared_ptr<Model> converted(int64_t groups, GroupInit init) override;

  std::vector<PlannedPoint> points;                             // evaluated now
  std::vector<PlannedPoint> known;                              // evaluated by an earlier run
  std::vector<int64_t> trained_at_point;                        // steps the model had been trained when evaluated
  std::vector<std::string> calls;                               // every scoring and training, as text
  std::vector<std::string> units;                               // begun
  std::vector<LearnedHeads> learned;                            // recorded
  std::function<void(GateSource&, const GateLearning&)> learn;  // in the place of a training
  std::function<SelectValue(const HeadSet&)> select_value;
  size_t stop_after = 1000000;  // evaluations until it throws

 private:
  Importance scores_now(const HeadSet& removed, int64_t trained) const;

  Blocks blocks_;
  Scores scores_;
};

struct Stopped {};

/// A sweep, on the blocks of a model.
RuleInput sweep_input(const std::string& label, const std::string& rule, const Model& model,
                      std::vector<MethodDraws> methods);
/// Plans and runs.
void run(const PruneRule& rule, const RuleInput& input, Model& model, RuleHost& host);
/// All tables, one after the other.
void run_tables(const SensitivityOptions& options, const RuleInput& input, Model& model, RuleHost& host);
/// The points that a rule lists before it runs.
std::vector<PlannedPoint> planned(const PruneRule& rule, const RuleInput& input);

/// A rule with its options as YAML has them.
std::shared_ptr<const PruneRule> make_rule(const std::string& yaml);

/// {"encoder.L0.H1", ...} of a set.
std::vector<std::string> names(const HeadSet& set);
std::vector<std::string> names(const std::vector<HeadId>& heads);
HeadId encoder_head(int64_t layer, int64_t head);

}  // namespace headprune::test
