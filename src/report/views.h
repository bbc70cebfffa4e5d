// Everything in a run folder that is made from its record, and can be made again from it.
#pragma once

#include <filesystem>

namespace headprune {

/// Writes scores.csv, curve.csv, sensitivity.csv, agreement.csv, timing.csv, scores.safetensors, metrics.json and,
/// last, results.json. Works for a run that is not finished: results.json says its state. Throws Error(io) when a file
/// cannot be written (old files stay), Error(usage) and Error(run_failed) as read_record().
void write_views(const std::filesystem::path& run_folder);

}  // namespace headprune
