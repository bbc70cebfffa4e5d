// How far a run is, for whoever watches: one line a second on a terminal, one every 30 s in a log, whatever the run is
// doing in between.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "core/log.h"
#include "run/time_left.h"

namespace headprune {

class RunProgress {
 public:
  /// Prints from a thread of its own, from the first second on.
  RunProgress();
  ~RunProgress();
  RunProgress(const RunProgress&) = delete;
  RunProgress& operator=(const RunProgress&) = delete;

  // As TimeLeft has them; the time is that since the last piece of any kind.
  void expect(Work kind, double pieces, double tokens);
  void skip(Work kind, double pieces);
  void done(Work kind, double pieces);
  /// What is being done: "[prune] seed 1: points 37/95, one_shot gradient_l1".
  void say(const std::string& text);
  /// Seconds of the whole run that are left.
  std::optional<double> left() const;

 private:
  std::optional<double> left_now() const;
  void print_until(std::stop_token stop);

  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  TimeLeft time_left_;
  double last_ = 0;  // monotonic: when the last piece was done
  std::string text_;
  ProgressLine line_;
  std::jthread printer_;  // last: it uses the others
};

}  // namespace headprune
