#include "report/tensorboard/live_tensorboard.h"

#include <fmt/format.h>

#include <fstream>

#include "core/files.h"
#include "core/text.h"
#include "record/host.h"
#include "report/tensorboard/tensorboard.h"

namespace headprune {
namespace {

constexpr int64_t kMain = -1;  // no seed is negative

double now() { return unix_seconds(utc_now()); }

}  // namespace

LiveTensorBoard::LiveTensorBoard(fs::path run_folder, bool several_seeds, int64_t attempt)
    : folder_(std::move(run_folder)), several_seeds_(several_seeds) {
  const ProcessId process = this_process();
  name_ = event_file_name({now(), process.host, process.pid, attempt});
  for (const TrainRow& row : read_train_log(folder_)) append(log(row.seed), row);
  log(kMain);
  for (auto& [seed, one] : logs_) write(one);
}

LiveTensorBoard::Log& LiveTensorBoard::log(int64_t seed) {
  const int64_t key = several_seeds_ ? seed : kMain;
  const auto found = logs_.find(key);
  if (found != logs_.end()) return found->second;
  const fs::path folder = folder_ / "tb" / (key == kMain ? "" : fmt::format("seed-{}", key));
  make_folders(folder);
  return logs_.emplace(key, Log{EventFile(now()), folder / name_, {}}).first->second;
}

void LiveTensorBoard::append(Log& log, const TrainRow& row) {
  const std::string tag = training_tag(row);
  const auto last = log.last_steps.find(tag);
  const double time = row.t.empty() ? now() : unix_seconds(row.t);
  // Training went back to a checkpoint: what was logged after it is dropped, as the run's own log does.
  if (last != log.last_steps.end() && row.step <= last->second) {
    log.events.restart({time, row.step});
    for (auto& [other, step] : log.last_steps) step = std::min(step, row.step - 1);
  }
  log.last_steps[tag] = row.step;
  log.events.scalar(tag, {time, row.step}, row.value);
}

void LiveTensorBoard::add(const TrainRow& row) {
  Log& own = log(row.seed);
  append(own, row);
  write(own);
}

void LiveTensorBoard::finish(const ReportInput& results) {
  Log& main = log(kMain);
  add_results(main.events, results);
  write(main);
}

void LiveTensorBoard::write(Log& log) {
  std::ofstream file(log.path, std::ios::app | std::ios::binary);
  file << log.events.take();
  file.flush();
  if (!file) fail(ExitCode::io, "cannot write {}: is the disk full? the same command continues", log.path.string());
}

}  // namespace headprune
