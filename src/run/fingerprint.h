// The circumstances that change numbers (docs/formats.md section 15).
#pragma once

#include "core/json.h"
#include "core/torch.h"
#include "run/experiment.h"

namespace headprune {

/// Sets threads, determinism and denormals for the process, once, before any tensor work. Throws Error(usage) when the
/// device does not exist.
torch::Device configure_runtime(const RuntimeSection& runtime);
/// How models of the run multiply.
Products products_of(const RuntimeSection& runtime);
Json fingerprint(const Experiment& experiment, torch::Device device);

}  // namespace headprune
