// examples/: what every example contributes to the metrics of an evaluated mask. Points measured on the same examples
// are compared through these: several seeds, two methods at equal heads, the area under a curve.
//
// One safetensors file a point, named by its content: a tensor [n] for each metric, U8 where its values are zeros and
// ones, else F32.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "record/point.h"

namespace headprune {

/// Writes the metrics' values by example and returns the file's SHA-256; empty, and no file, where no metric has any.
/// Throws Error(io) as write_file() does.
std::string write_example_values(const std::filesystem::path& run_folder, const std::vector<MetricResult>& metrics);

/// Where write_example_values() put the file.
std::filesystem::path example_values_path(const std::filesystem::path& run_folder, const std::string& sha256);

/// Reads them back, each file once.
class ExampleValues {
 public:
  explicit ExampleValues(std::filesystem::path run_folder) : run_folder_(std::move(run_folder)) {}

  /// [n]; null where the point has none, or the file is gone (a copy of a run may come without). Throws
  /// Error(run_failed) for a file that is not the one that the journal names.
  const std::vector<float>* of(const PointResult& point, const std::string& metric) const;

 private:
  using ByMetric = std::map<std::string, std::vector<float>>;
  const ByMetric& read(const std::string& sha256) const;

  std::filesystem::path run_folder_;
  mutable std::map<std::string, ByMetric> files_;  // by SHA-256
};

}  // namespace headprune
