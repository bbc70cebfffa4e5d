// Runs the real headprune binary.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/files.h"
#include "support/folder.h"

namespace headprune {

struct Finished {
  int code = -1;  // exit code; 128 + signal when a signal ended it
  std::string out, err;
};

/// A running headprune, started in `folder`; stdout and stderr go to files inside it.
class Program {
 public:
  Program(const std::vector<std::string>& arguments, const fs::path& folder,
          const std::vector<std::string>& environment = {}, const fs::path& binary = HEADPRUNE_BINARY);
  pid_t pid() const { return pid_; }
  void signal(int number) const;
  bool running();
  Finished wait();

 private:
  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
  fs::path out_, err_;
};

Finished headprune_in(const fs::path& folder, const std::vector<std::string>& arguments,
                      const std::vector<std::string>& environment = {});

/// What a shell does in `folder`: $H is headprune, $T ends what takes more than 60 s (exit code 124).
Finished shell_in(const fs::path& folder, const std::string& script);

/// An experiment of less than a second.
extern const char* const kTinyExperiment;

/// A whole experiment of a few seconds: training with checkpoints, all scores, both rules, fine-tuning, all tables.
extern const char* const kSmallExperiment;

/// The small experiment, run once for all tests; nothing may write into it.
const fs::path& finished_run();

/// Every file of a run folder that must not depend on interruptions, times taken out: name to content.
std::vector<std::pair<std::string, std::string>> lasting_results(const fs::path& run_folder);

}  // namespace headprune
