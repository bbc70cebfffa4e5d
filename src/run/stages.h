// The stages of one seed, in the order in which they run. Each reads what the stages before it left in the workspace
// and in the record, and skips what is recorded already.
#pragma once

#include "run/recorded_scores.h"

namespace headprune {

/// Trains, or loads, the model of this seed.
Passes model_stage(SeedRun& run);
/// The unpruned model on the report split.
Passes evaluate_stage(SeedRun& run);
/// Every score, in one pass.
Passes score_stage(SeedRun& run, IntactScores& scores);
/// What the heads do, as `analyses` asks.
Passes analyse_stage(SeedRun& run);
Passes prune_stage(SeedRun& run, const IntactScores& scores);
Passes sensitivity_stage(SeedRun& run, const IntactScores& scores);
/// Heads removed for real: equality with masking, and timing.
Passes surgery_stage(SeedRun& run);

}  // namespace headprune
