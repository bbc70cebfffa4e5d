// train.jsonl: what training measured, row by row.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "record/framed_log.h"

namespace headprune {

struct TrainRow {
  std::string t;        // time; set by the writer
  int64_t attempt = 0;  // set by the writer
  int64_t seed = 0;
  int64_t step = 0;
  double epoch = 0;
  std::string split;          // "train", "select"
  std::string name;           // "loss", "learning_rate", a metric
  double value = 0;           // non-finite values are kept
  std::string training = {};  // inside a sweep: "hard_concrete/lambda_0.1"; empty: the seed's own
};

class TrainLog {
 public:
  /// `attempt` is the journal's.
  TrainLog(const std::filesystem::path& run_folder, int64_t attempt);
  void append(TrainRow row);

 private:
  FramedLog log_;
  int64_t attempt_;
};

/// The rows that count, in file order: those of an older attempt at or past the first step of a later attempt (of the
/// same training of a seed) are superseded and left out. No file: no rows.
std::vector<TrainRow> read_train_log(const std::filesystem::path& run_folder);

}  // namespace headprune
