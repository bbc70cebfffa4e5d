// samples/<point>.jsonl: one line per example of an evaluated point (output.samples).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace headprune {

struct Sample {
  int64_t doc_id = 0;
  std::string doc_hash;  // SHA-256 of the example's tokens, of a translation of both sides
  Json target, pred;
  std::optional<bool> correct;
  std::optional<double> loss;
  std::vector<double> logits;  // empty where they are too many to keep
};

/// Writes the file in one go and returns its SHA-256, for point_done.
std::string write_samples(const std::filesystem::path& run_folder, const std::string& point,
                          const std::vector<Sample>& samples);

}  // namespace headprune
