#include "run/progress.h"

#include <csignal>

#include "core/text.h"

namespace headprune {

RunProgress::RunProgress() : last_(monotonic_seconds()) {
  // Signals are for the thread that computes: it is the one whose waits they end.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  printer_ = std::jthread([this](std::stop_token stop) { print_until(std::move(stop)); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

RunProgress::~RunProgress() = default;

void RunProgress::expect(Work kind, double pieces, double tokens) {
  const std::lock_guard lock(mutex_);
  time_left_.expect(kind, pieces, tokens);
}

void RunProgress::skip(Work kind, double pieces) {
  const std::lock_guard lock(mutex_);
  time_left_.skip(kind, pieces);
}

void RunProgress::done(Work kind, double pieces) {
  const std::lock_guard lock(mutex_);
  const double now = monotonic_seconds();
  time_left_.done(kind, pieces, now - last_);
  last_ = now;
}

void RunProgress::say(const std::string& text) {
  const std::lock_guard lock(mutex_);
  text_ = text;
}

std::optional<double> RunProgress::left() const {
  const std::lock_guard lock(mutex_);
  return left_now();
}

std::optional<double> RunProgress::left_now() const {
  const std::optional<double> then = time_left_.seconds();
  if (!then) return std::nullopt;
  return std::max(0.0, *then - (monotonic_seconds() - last_));
}

void RunProgress::print_until(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    wake_.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
    if (stop.stop_requested() || text_.empty() || !line_.due()) continue;
    const std::optional<double> seconds = left_now();
    line_.print(seconds ? fmt::format("{}, {} left", text_, duration_text(*seconds)) : text_);
  }
}

}  // namespace headprune
