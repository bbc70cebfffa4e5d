// What is recorded of a point: its circumstances, and its metrics from the outcomes of the report split.
#pragma once

#include "run/workspace.h"

namespace headprune {

/// Everything but what is measured.
PointResult described(const SeedRun& run, Model& model, const Point& point);

/// Adds metrics, paired with `base` (null for the unpruned model itself), and the files of values and samples.
void add_metrics(const SeedRun& run, const Outcomes& outcomes, const Outcomes* base, PointResult& result);

}  // namespace headprune
