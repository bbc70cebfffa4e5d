// A run as TensorBoard shows it (formats.md section 10).
#pragma once

#include <map>
#include <string>

#include "report/report.h"

namespace headprune {

/// Event files by their path below the log folder. Curves are scalars over the number of heads removed, with _lo and
/// _hi where there is an interval; training curves lie in seed-<s>/ where there are several seeds; scores are
/// histograms by block and images of layers x heads; the configuration is text. Non-finite values are kept: TensorBoard
/// shows them.
std::map<std::string, std::string> tensorboard_files(const ReportInput& input);

}  // namespace headprune
