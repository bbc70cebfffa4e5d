#include "cli/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/text.h"
#include "report/tables/results_json.h"

namespace headprune {

const char* const kSmallExperiment = R"yaml(name: small
seeds: [1, 2]
data: {type: synthetic, examples: {train: 400, dev: 60, test: 80}}
task: {type: classification, metrics: [accuracy, loss]}
model: {type: encoder, d_model: 16, layers: 2, heads: 2, dropout: 0.1}
train: {max_steps: 30, per_device_train_batch_size: 16, save_steps: 5, logging_steps: 5, eval_steps: 10}
score: {methods: [gradient_l1, output_l2, entropy, {random: {draws: 2}}], batch_size: 32}
analyses: {methods: [positional, {special: {threshold: 0.1}}]}
prune:
  sweeps:
    - one_shot: {fractions: [0, 0.25, 0.5, 1]}
    - iterative: {methods: [gradient_l1], heads_per_step: 1, until_fraction: 0.75, fine_tune_steps: 4, keep_weights: last}
    - one_shot: {label: step_2, at_step: 2, methods: [gradient_l1], fractions: [0, 0.5]}
sensitivity: {tables: [leave_one_out, all_but_one, layer_removed, layer_curve]}
surgery: {fractions: [0.5], timing: {batch_sizes: [2], warmup: 1, repeats: 2}}
report: {bootstrap_iters: 200}
runtime: {threads: 1}
)yaml";

const char* const kTinyExperiment = R"yaml(name: tiny
data: {type: synthetic, examples: {train: 100, dev: 40, test: 40}}
task: {type: classification}
model: {type: encoder, d_model: 8, layers: 2, heads: 2}
train: {max_steps: 4, per_device_train_batch_size: 16}
score: {methods: [gradient_l1]}
prune: {sweeps: [one_shot: {fractions: [0, 0.5]}]}
report: {bootstrap_iters: 100}
runtime: {threads: 1}
)yaml";

Program::Program(const std::vector<std::string>& arguments, const fs::path& folder,
                 const std::vector<std::string>& environment, const fs::path& binary) {
  static int count = 0;
  out_ = folder / ("stdout-" + std::to_string(++count));
  err_ = folder / ("stderr-" + std::to_string(count));
  // Before the fork: a program that is killed at once has written nothing, which is not the same as no file.
  const int out = open(out_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  const int err = open(err_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ > 0) {
    close(out);
    close(err);
    return;
  }
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  if (chdir(folder.c_str()) != 0) _exit(126);
  for (const std::string& variable : environment) putenv(const_cast<char*>(variable.c_str()));
  std::vector<char*> argv = {const_cast<char*>("headprune")};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(binary.c_str(), argv.data());
  _exit(127);
}

void Program::signal(int number) const { kill(pid_, number); }

bool Program::running() {
  if (!ended_ && waitpid(pid_, &status_, WNOHANG) == pid_) ended_ = true;
  return !ended_;
}

Finished Program::wait() {
  if (!ended_) waitpid(pid_, &status_, 0);
  ended_ = true;
  const int code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  return {code, read_file(out_), read_file(err_)};
}

Finished headprune_in(const fs::path& folder, const std::vector<std::string>& arguments,
                      const std::vector<std::string>& environment) {
  return Program(arguments, folder, environment).wait();
}

Finished shell_in(const fs::path& folder, const std::string& script) {
  return Program({"-c", script}, folder, {std::string("H=") + HEADPRUNE_BINARY, "T=timeout -k 5 60"}, "/bin/bash")
      .wait();
}

std::vector<std::pair<std::string, std::string>> lasting_results(const fs::path& run_folder) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const char* name : {"scores.csv", "curve.csv", "sensitivity.csv", "agreement.csv", "metrics.json",
                           "scores.safetensors", "model/seed-1/model.safetensors", "model/seed-2/model.safetensors"})
    files.emplace_back(name, read_file(run_folder / name));
  const Json results = parse_json(read_file(run_folder / "results.json"), "results.json");
  files.emplace_back("results.json", dump_json_file(without_times(results)));
  return files;
}

const fs::path& finished_run() {
  static const TestFolder scratch;
  static const fs::path folder = [] {
    write_file(scratch / "small.yaml", kSmallExperiment);
    const Finished finished = headprune_in(scratch.path(), {"run", "small.yaml"});
    if (finished.code != 0) throw std::runtime_error("the small experiment failed: " + finished.err);
    return scratch / "runs/small";
  }();
  return folder;
}

}  // namespace headprune
