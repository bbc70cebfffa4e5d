#include "core/stop.h"

#include <signal.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace headprune {
namespace {

struct KnownSignal {
  const char* name;
  int number;
};
constexpr KnownSignal kSignals[] = {
    {"INT", SIGINT}, {"TERM", SIGTERM}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"HUP", SIGHUP}};

// Written by the handler, so nothing but sig_atomic_t.
volatile std::sig_atomic_t received_signal = 0;
volatile std::sig_atomic_t under_slurm = 0;

ExitCode exit_code(int signal) {
  if (signal == SIGINT) return ExitCode::sigint;
  if (signal == SIGTERM && under_slurm == 0) return ExitCode::sigterm;
  return ExitCode::interrupted;
}

extern "C" void on_stop_signal(int signal) {
  if (received_signal != 0) _exit(static_cast<int>(exit_code(signal)));
  received_signal = signal;
}

const KnownSignal& find_signal(const std::string& name) {
  for (const auto& known : kSignals) {
    if (name == known.name) return known;
  }
  fail(ExitCode::usage, "unknown signal '{}'; runtime.signals takes INT, TERM, USR1, USR2 and HUP", name);
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

bool is_ignored(int number) {
  struct sigaction action = {};
  sigaction(number, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

}  // namespace

const char* signal_name(int number) {
  for (const auto& known : kSignals) {
    if (known.number == number) return known.name;
  }
  return "?";
}

Interrupted::Interrupted(ExitCode code, int signal)
    : Error(code, fmt::format("stopped by SIG{}; run the same command again to continue", signal_name(signal))),
      signal_(signal) {}

void install_signal_handlers(const std::vector<std::string>& names) {
  under_slurm = std::getenv("SLURM_JOB_ID") != nullptr ? 1 : 0;
  for (const auto& name : names) {
    const int number = find_signal(name).number;
    // nohup sets HUP to be ignored, and means it.
    if (number == SIGHUP && is_ignored(number)) continue;
    handle(number, on_stop_signal);
  }
  handle(SIGPIPE, SIG_IGN);
  handle(SIGXFSZ, SIG_IGN);
}

bool stop_requested() { return received_signal != 0; }

void check_stop() {
  const int signal = received_signal;
  if (signal != 0) throw Interrupted(exit_code(signal), signal);
}

}  // namespace headprune
