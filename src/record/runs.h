// Data behind `runs ls`, `runs info` and `runs diff`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "record/journal.h"
#include "record/run_folder.h"
#include "record/status.h"

namespace headprune {

struct RunSummary {
  std::filesystem::path path;
  std::string name;  // folder name
  std::string experiment_id;
  std::string state;  // as shown, "stale" included
  std::string stage;
  PointCounts points;
  std::string created, heartbeat;
  std::string reason;   // of a failure or interrupt
  std::string problem;  // set when the folder's own files cannot be read; then the rest may be empty
};

/// One run folder. Throws Error(usage) when it is none.
RunSummary summarize_run(const std::filesystem::path& run_folder);
/// Every run folder directly inside `dir`, by name; other folders are passed over. Throws Error(usage) without `dir`.
std::vector<RunSummary> list_runs(const std::filesystem::path& dir);

/// Recomputes digests: config.yaml and run.json against the journal, manifests of model/ and of checkpoints, samples
/// against their points. One sentence per problem; empty when all is well.
std::vector<std::string> verify_run(const std::filesystem::path& run_folder);

/// "section: key: a -> b" lines for configuration, inputs, fingerprint and tool.
struct RunDifferences {
  std::vector<std::string> config, inputs, fingerprint, tool;
  bool same_experiment = false;
};
RunDifferences diff_runs(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace headprune
