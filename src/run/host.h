// Stands between rules and the record: evaluates the masks that a rule or table asks for, and knows what is done.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "prune/rule.h"
#include "prune/sensitivity.h"
#include "run/workspace.h"

namespace headprune {

/// Intact scores of one seed by (label, draw).
using IntactScores = std::map<std::pair<std::string, int64_t>, Importance>;

/// Folder of the checkpoints that sweeps fine-tune, inside the seed's train folder; gone once every sweep is done.
inline constexpr const char* kSweepCheckpoints = "sweeps";

class Host final : public SweepHost, public SensitivityHost {
 public:
  /// `intact`: the model that rules and tables are about, before they remove a head of it.
  Host(SeedRun& run, Stage stage, const IntactScores& scores, IntactModel& intact);

  bool done(const PointSpec& spec) const override;
  void evaluate(Model& model, const PlannedPoint& point) override;
  /// Records that a point cannot be evaluated.
  void give_up(const PointSpec& spec, const std::string& reason, const std::string& message);
  Importance intact_scores(const std::string& method, int64_t draw) override;
  Importance score_again(Model& model, const std::string& method, int64_t draw, const HeadSet& removed,
                         const std::string& sweep, int64_t step) override;
  std::pair<int64_t, int64_t> fine_tune(Model& model, const HeadSet& removed, const FineTuning& how) override;
  SelectValues select(const std::vector<HeadSet>& masks) override;

  /// Passes over batches that this attempt spent.
  Passes passes() const { return passes_; }

 private:
  PointResult describe(Model& model, const PlannedPoint& point) const;
  void measure(Model& model, const PlannedPoint& point, PointResult& result);
  void keep_weights(const Model& model, const PlannedPoint& point, PointResult& result) const;
  void failed(const std::string& id, const std::string& reason, const std::string& message);
  bool enough_for_smoke(const PointSpec& spec);

  SeedRun& run_;
  Workspace& workspace_;
  Stage stage_;
  const IntactScores& scores_;
  IntactModel& intact_;
  std::map<std::string, int64_t> smoke_counts_;
  Passes passes_;
};

/// Writes a model as a folder of its own, replacing one that an interrupted attempt left. `mask` is its mask_sha256.
/// Returns the SHA-256 of the manifest.
std::string save_model(const Workspace& workspace, const Model& model, const std::string& mask,
                       const std::filesystem::path& folder);

/// What the journal holds of a score, as the driver returned it; nothing when it is not complete.
std::optional<Importance> recorded_importance(const Record& record, const ScoreKey& key, const Blocks& blocks);
/// Writes one score, heads of `removed` left out: a line a block, then score_done.
void record_importance(Workspace& workspace, const ScoreKey& key, const Importance& importance, const Blocks& blocks,
                       const HeadSet& removed);

}  // namespace headprune
