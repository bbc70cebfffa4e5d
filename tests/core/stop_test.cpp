#include "core/stop.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "support/catch.h"

using namespace headprune;

namespace {

/// Runs `work` in a child, since handlers and requests last as long as the process; its exit status.
template <class Work>
int in_child(Work work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// Exit code of a clean stop after one signal.
int stopped_by(int signal) {
  install_signal_handlers({"INT", "TERM", "USR1", "USR2", "HUP"});
  if (stop_requested()) return 99;
  check_stop();
  ::raise(signal);
  if (!stop_requested()) return 98;
  try {
    check_stop();
  } catch (const Interrupted& error) {
    return error.signal() == signal ? static_cast<int>(error.code()) : 97;
  }
  return 96;
}

}  // namespace

TEST_CASE("the first signal asks for a stop with its own exit code", "[core]") {
  for (const auto& [signal, code] :
       {std::pair{SIGINT, 130}, {SIGTERM, 143}, {SIGUSR1, 75}, {SIGUSR2, 75}, {SIGHUP, 75}}) {
    INFO("signal " << signal);
    CHECK(in_child([signal = signal] {
            ::unsetenv("SLURM_JOB_ID");
            ::signal(SIGHUP, SIG_DFL);
            return stopped_by(signal);
          }) == code);
  }
}

TEST_CASE("under Slurm, TERM means: run again", "[core]") {
  CHECK(in_child([] {
          ::setenv("SLURM_JOB_ID", "1", /*replace=*/1);
          return stopped_by(SIGTERM);
        }) == 75);
}

TEST_CASE("the second signal ends the process at once", "[core]") {
  CHECK(in_child([] {
          install_signal_handlers({"INT"});
          ::raise(SIGINT);
          ::raise(SIGINT);
          return 0;
        }) == 130);
}

TEST_CASE("broken pipes and file size limits are errors, not signals", "[core]") {
  CHECK(in_child([] {
          install_signal_handlers({});
          ::raise(SIGPIPE);
          ::raise(SIGXFSZ);
          return stop_requested() ? 1 : 0;
        }) == 0);
}

TEST_CASE("signals that are not listed keep their meaning, and nohup is respected", "[core]") {
  CHECK(in_child([] {
          ::signal(SIGUSR1, SIG_DFL);
          install_signal_handlers({"INT"});
          ::raise(SIGUSR1);
          return 0;
        }) == -SIGUSR1);
  CHECK(in_child([] {
          ::signal(SIGHUP, SIG_IGN);
          install_signal_handlers({"HUP"});
          ::raise(SIGHUP);
          return stop_requested() ? 1 : 0;
        }) == 0);
}

TEST_CASE("an unknown signal is a usage error", "[core]") {
  try {
    install_signal_handlers({"KILL"});
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::usage);
    CHECK_THAT(error.what(), ContainsSubstring("unknown signal 'KILL'"));
  }
  CHECK_THAT(Interrupted(ExitCode::sigint, SIGINT).what(), ContainsSubstring("stopped by SIGINT"));
}
