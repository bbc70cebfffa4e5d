// Says where a model predicts the same for every example, so that what stands for a correlation is not believed.
#pragma once

#include "run/workspace.h"

namespace headprune {

/// Warns in the journal: of the unpruned model with what it says; of pruned ones once for each sweep and table, where a
/// metric is asked for that needs different predictions (task/constant.h).
void warn_of_constant_predictions(Workspace& workspace, const PointSpec& spec, const Outcomes& outcomes);

}  // namespace headprune
