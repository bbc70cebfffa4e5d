// tb/ of a run folder, written while the run goes on (docs/formats.md section 10).
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "record/train_log.h"
#include "report/page/report.h"
#include "report/tensorboard/event_file.h"

namespace headprune {

/// Training as it happens; everything else once the attempt ends. An attempt writes files of its own, which begin with
/// all that earlier attempts measured, and tells readers to drop what older files say. Throws Error(io) when a file
/// cannot be written.
class LiveTensorBoard {
 public:
  /// With several seeds, training goes to seed-<s>/.
  LiveTensorBoard(std::filesystem::path run_folder, bool several_seeds, int64_t attempt);
  void add(const TrainRow& row);
  /// The results so far.
  void finish(const ReportInput& results);

 private:
  struct Log {
    EventFile events;
    std::filesystem::path path;
    std::map<std::string, int64_t> last_steps;  // by tag
  };
  Log& log(int64_t seed);
  void append(Log& log, const TrainRow& row);
  static void write(Log& log);

  std::filesystem::path folder_;  // the run's
  bool several_seeds_;
  std::string name_;
  std::map<int64_t, Log> logs_;  // by seed; where there is one, all in the main log
};

}  // namespace headprune
