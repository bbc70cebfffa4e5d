// Repeated timings brought down to a few numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/journal.h"

namespace headprune {

struct Spread {
  double mean = 0, median = 0, min = 0, max = 0;
  std::optional<double> stderr_;
  int64_t n = 0;  // repeats
};

struct TimingSummary {
  const TimingResult* result = nullptr;
  const PointResult* point = nullptr;  // null where the record lacks it; the unpruned one for "intact"
  Spread seconds_per_batch, examples_per_second;
  /// Median of the intact model over this median, both timed in one alternation for one mask; nothing without an
  /// intact.
  std::optional<double> speed;
};

/// By sweep, method, seed, draw, fraction, form (intact, masked, removed), batch size, length. Timings without repeats
/// are left out.
std::vector<TimingSummary> timing_summaries(const Record& record);

/// Which mask was timed, and of which seed's model where there are several: "gradient_l1", "random, draw 2, seed 1",
/// "mask_2", for the intact model "seed 1" or nothing.
std::string timed_mask_text(const Record& record, const TimingSummary& timing);

/// What a length means for a model that reads two texts, to be put after other sentences; empty for others.
std::string sides_sentence(const Record& record);

}  // namespace headprune
