// What a run has before it, for the estimate of the time that is left.
#pragma once

#include "run/workspace.h"

namespace headprune {

/// Tells `workspace.progress` of all seeds and stages what the record does not hold yet.
void expect_work(Workspace& workspace, const Blocks& blocks);

}  // namespace headprune
