// The folder of a run: its names, who owns it, and which one an experiment continues (docs/formats.md sections 7 and
// 13).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "record/host.h"

namespace headprune {

// Names inside a run folder.
inline constexpr const char* kConfigSource = "config.source.yaml";
inline constexpr const char* kConfig = "config.yaml";
inline constexpr const char* kRunJson = "run.json";
inline constexpr const char* kStatusJson = "status.json";
inline constexpr const char* kLockFile = ".lock";
inline constexpr const char* kJournal = "journal.jsonl";
inline constexpr const char* kTrainLog = "train.jsonl";
inline constexpr const char* kLogText = "log.txt";
inline constexpr const char* kSamples = "samples";
inline constexpr const char* kExamples = "examples";

/// model/, or model/seed-<s>/ with several seeds. Relative to the run folder.
std::filesystem::path model_folder(int64_t seed, bool several_seeds);
/// points/<point>/: the model of a point with weights of its own, where they are kept. Relative to the run folder.
std::filesystem::path point_folder(const std::string& point);
/// train/seed-<s>/
std::filesystem::path train_folder(int64_t seed);
/// train/seed-<s>/step-<n>/: the model as it was after n training steps, where a sweep asks for it.
std::filesystem::path step_folder(int64_t seed, int64_t step);

/// run.json: the context of a run, written once, before work.
struct RunContext {
  std::string name;
  std::string experiment_id;
  std::string created;  // time
  Json tool;            // ToolInfo
  std::vector<std::string> argv, overrides;
  Json config_files = Json::array();  // [{"path","sha256","text"}]
  Json inputs = Json::array();        // [{"role","path","bytes","sha256"}]
  Json env = Json::object();
  Json host;                   // HostInfo
  Json fingerprint;            // docs/formats.md section 15
  std::string config_origins;  // the effective configuration, each line with the place that set it

  Json to_json() const;
  static RunContext from_json(const Json& json);
};
/// One SHA-256 over the files of the model that was loaded, of the `inputs` of run.json; empty where there are none.
std::string loaded_model_sha256(const Json& inputs);

/// Writes run.json (which must not exist yet) and returns its SHA-256.
std::string write_run_context(const std::filesystem::path& run_folder, const RunContext& context);
RunContext read_run_context(const std::filesystem::path& run_folder);

/// Holds a run folder for as long as it lives: its .lock, and the folder itself, so that a .lock that was deleted
/// admits nobody else. Throws Error(usage) naming the holder when another process has it.
class RunLock {
 public:
  explicit RunLock(const std::filesystem::path& run_folder);
  ~RunLock();
  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&&) = delete;
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  static void take(int descriptor, const std::filesystem::path& run_folder, bool must);
  void release();

  int descriptor_ = -1, folder_ = -1;
};

struct FolderRequest {
  std::filesystem::path dir;  // output.dir
  std::string name;
  std::filesystem::path out;  // --out: exactly this folder; empty otherwise
  bool fresh = false;         // --new
  std::string experiment_id;
  std::string config_yaml;  // effective configuration and inputs as in run.json, to say what changed
  Json inputs = Json::array();
};

struct OpenedFolder {
  std::filesystem::path path;
  bool continued = false;       // holds run.json of this experiment
  std::filesystem::path other;  // the newest run of this name with another experiment; empty when none or continued
  std::vector<std::string> changed;  // what differs from `other`, one line each
  RunLock lock;
};

/// Chooses, creates and locks: the newest of <name>, <name>-2, ... with the same experiment_id is continued, else the
/// next free name is made by an exclusive mkdir. --out with another experiment in it is Error(usage) with the
/// differences; so is a folder that another live process holds.
OpenedFolder open_run_folder(const FolderRequest& request);

/// Differences in the fields of docs/formats.md section 15 that are compared, "threads: 1 -> 2" each; empty when equal.
/// The size of LibTorch's pool for operations side by side (interop_threads) is only recorded: nothing here uses it,
/// and it follows the number of cores.
std::vector<std::string> fingerprint_diff(const Json& stored, const Json& now);

/// The leaves of an effective configuration by their key paths; lists of plain values are leaves: "[1, 2]".
std::map<std::string, std::string> flat_config(const std::string& yaml);
/// Differences between two effective configurations, "train.learning_rate: 0.0001 -> 0.001" each, sorted by key.
std::vector<std::string> config_diff(const std::string& yaml_a, const std::string& yaml_b);
/// Differences between two `inputs` lists by role: other content, one missing.
std::vector<std::string> inputs_diff(const Json& a, const Json& b);

}  // namespace headprune
