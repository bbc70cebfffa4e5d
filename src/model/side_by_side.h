// Passes over many batches. Operations of small models are too small to be worth dividing among threads, so several
// batches are computed at once, each by one thread.
#pragma once

#include <functional>
#include <vector>

#include "model/model.h"

namespace headprune {

/// What a pass keeps of a batch: a forward pass its widest layer, a backward pass all of them.
enum class PassKind { forward, backward };

/// How many of `batches` side_by_side() is to compute at once: as many as there are threads, while what the model makes
/// of them is estimated to take at most 2 GiB. 1 of a single batch, on other devices than the CPU, and where the model
/// and the batches are so large that each thread has enough to do in every operation.
int64_t batches_at_once(const Model& model, const std::vector<Batch>& batches, PassKind kind);

/// Calls `compute(i)` for every i below `count`, `at_once` of them at a time, each on one thread, and what it returns
/// in the order of i, one after another: results do not depend on `at_once` beyond the rounding of operations that
/// several threads share. Throws what the first i to fail throws. Whether gradients are recorded is each thread's own,
/// so `compute` says it.
void side_by_side(size_t count, int64_t at_once, const std::function<std::function<void()>(size_t)>& compute);

}  // namespace headprune
