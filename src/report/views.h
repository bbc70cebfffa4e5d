// Everything in a run folder that is made from its record, and can be made again from it.
#pragma once

#include <filesystem>

#include "report/page/report.h"

namespace headprune {

/// Writes scores.csv, curve.csv, sensitivity.csv, agreement.csv, timing.csv, scores.safetensors, metrics.json, the
/// figures in plots/, report.md, report.html, tb/ unless it is there already, and, last, results.json into `to`. The
/// record may want fewer (report.formats). Works for a run that is not finished: each says its state. Every file is
/// replaced whole: a kill leaves old ones or new ones. Throws Error(io) when a file cannot be written (old files stay),
/// Error(usage) and Error(run_failed) as read_record().
void write_views(const std::filesystem::path& run_folder, const std::filesystem::path& to);
/// The same of a record that was read already.
void write_views(const ReportInput& input, const std::filesystem::path& to);
/// Into the run folder itself.
void write_views(const std::filesystem::path& run_folder);

}  // namespace headprune
