// Scores between the journal and the rules.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "run/workspace.h"

namespace headprune {

/// Intact scores of one seed by (label, draw).
using IntactScores = std::map<std::pair<std::string, int64_t>, Importance>;

/// What the journal holds of a score, as the driver returned it; nothing when it is not complete.
std::optional<Importance> recorded_importance(const Record& record, const ScoreKey& key, const Blocks& blocks);
/// Writes one score, heads of `removed` left out: a line a block, then score_done.
void record_importance(Workspace& workspace, const ScoreKey& key, const Importance& importance, const Blocks& blocks,
                       const HeadSet& removed);

}  // namespace headprune
