// State of the default random generators, which dropout draws from. Training seeds them from a named stream and keeps
// their state in rng.safetensors: one U8 tensor a stream, `dropout` (CPU, 5056 bytes) and, on an accelerator,
// `dropout.device`.
#pragma once

#include <string>

#include "model/checkpoint.h"

namespace headprune {

/// Seeds the CPU generator, and that of `device` where it is another.
void seed_generators(uint64_t seed, torch::Device device);
NamedTensors generator_states(torch::Device device);
/// Throws Error(run_failed) naming `where` when a state is missing.
void restore_generators(const NamedTensors& states, torch::Device device, const std::string& where);

}  // namespace headprune
