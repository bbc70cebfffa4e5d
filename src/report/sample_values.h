// What stored samples (output.samples) say about a point, example by example.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "record/journal.h"

namespace headprune {

struct SampleValues {
  std::vector<std::string> ids;  // doc_id and doc_hash: the same example has the same in every run
  std::vector<double> values;    // in the metric's units; their mean is the metric
};

/// Accuracy and loss only, and only where the mean of the examples is the metric (a loss by token is not). Nothing
/// without samples. Throws Error(run_failed) when the file is not the one that the journal names.
std::optional<SampleValues> sample_values(const std::filesystem::path& run_folder, const Record& record,
                                          const PointResult& point, const std::string& metric);

}  // namespace headprune
