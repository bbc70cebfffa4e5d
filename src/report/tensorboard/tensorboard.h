// A run as TensorBoard shows it (docs/formats.md section 10).
#pragma once

#include <map>
#include <string>

#include "report/page/report.h"
#include "report/tensorboard/event_file.h"

namespace headprune {

/// Event files by their path below the log folder. Curves are scalars over the number of heads removed, with _lo and
/// _hi where there is an interval; training curves lie in seed-<s>/ where there are several seeds; scores are
/// histograms by block and images of layers x heads; the configuration is text and a session of the HParams tab.
/// Non-finite values are kept: TensorBoard shows them.
std::map<std::string, std::string> tensorboard_files(const ReportInput& input);

struct EventFileName {
  double started = 0;  // seconds since 1970: readers take files in the order of their names
  std::string host;
  int64_t process = 0, attempt = 0;
};
std::string event_file_name(const EventFileName& name);

/// "train/loss", "train/lr", "eval/accuracy".
std::string training_tag(const TrainRow& row);

/// Everything but training.
void add_results(EventFile& file, const ReportInput& input);

}  // namespace headprune
