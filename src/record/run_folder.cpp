#include "record/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/log.h"
#include "core/open_file.h"
#include "core/text.h"
#include "record/json_fields.h"

namespace headprune {
namespace {

std::string holder_text(const fs::path& lock) {
  try {
    const Json holder = read_json(lock);
    return fmt::format("process {} on {} since {}", read_field<int64_t>(holder, "pid"),
                       read_field<std::string>(holder, "host"), read_field<std::string>(holder, "started"));
  } catch (const Error&) {
    return "another process";
  }
}

/// A folder that a run made and was killed before it wrote run.json: nothing but its lock and temporaries.
bool is_unborn(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool ours = name == kLockFile || name == kConfig || name == kConfigSource || name == kLogText;
    if (!ours && name.find(".tmp-") == std::string::npos) return false;
  }
  return true;
}

/// An object whose members are only shown, or null.
Json read_facts(const Json& json, const char* key) {
  const Json& found = read_member(json, key);
  return found.is_null() ? found : read_object(json, key);
}

/// A list of files, each with these texts.
Json read_files(const Json& json, const char* key, std::initializer_list<const char*> texts) {
  const Json& files = read_list(json, key);
  for (const Json& file : files)
    for (const char* text : texts) read_field<std::string>(file, text);
  return files;
}

/// Number of a folder in <name>, <name>-2, <name>-3 ...; nothing for other names.
std::optional<int64_t> suffix_of(const std::string& folder, const std::string& name) {
  if (folder == name) return 1;
  if (folder.rfind(name + "-", 0) != 0) return std::nullopt;
  const std::string_view digits = std::string_view(folder).substr(name.size() + 1);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < 2 || digits[0] == '0') {
    return std::nullopt;
  }
  return number;
}

/// Existing folders of the name by number.
std::map<int64_t, fs::path> existing_folders(const FolderRequest& request) {
  std::map<int64_t, fs::path> folders;
  if (!fs::is_directory(request.dir)) return folders;
  for (const auto& entry : fs::directory_iterator(request.dir)) {
    const auto number = suffix_of(entry.path().filename().string(), request.name);
    if (number) folders[*number] = entry.path();
  }
  return folders;
}

/// What keeps the stored run from being this experiment.
std::vector<std::string> changes(const fs::path& folder, const FolderRequest& request) {
  // These sections do not count for the experiment's id (docs/formats.md section 1).
  const auto counts = [](const std::string& line) {
    for (const char* section : {"name", "output", "report", "check", "runtime"}) {
      if (line.rfind(std::string(section) + ":", 0) == 0 || line.rfind(std::string(section) + ".", 0) == 0)
        return false;
    }
    return line.rfind("x-", 0) != 0;
  };
  std::vector<std::string> lines;
  if (fs::exists(folder / kConfig)) {
    lines = config_diff(read_file_up_to(folder / kConfig, kMaxJsonFile), request.config_yaml);
    std::erase_if(lines, [&](const std::string& line) { return !counts(line); });
  }
  for (std::string& line : inputs_diff(read_run_context(folder).inputs, request.inputs))
    lines.push_back(std::move(line));
  return lines;
}

/// mkdir that fails when the folder is there: two programs never share one by accident.
bool make_exclusively(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0777) == 0) {
    sync_folder(folder.parent_path().empty() ? fs::path(".") : folder.parent_path());
    return true;
  }
  if (errno == EEXIST) return false;
  fail(ExitCode::io, "cannot make the run folder {}: {}", folder.string(), std::strerror(errno));
}

OpenedFolder open_exactly(const FolderRequest& request) {
  const fs::path& folder = request.out;
  if (folder.has_parent_path()) make_folders(folder.parent_path());
  if (!make_exclusively(folder)) {
    if (!fs::is_directory(folder)) fail(ExitCode::usage, "--out {}: a file of that name is there", folder.string());
    if (fs::exists(folder / kRunJson)) {
      if (request.fresh) {
        fail(ExitCode::usage, "--out {} already holds a run; with --new name a folder that does not exist",
             folder.string());
      }
      if (read_run_context(folder).experiment_id != request.experiment_id) {
        fail(ExitCode::usage, "--out {} holds another experiment; name another folder. What differs:\n  {}",
             folder.string(), join(changes(folder, request), "\n  "));
      }
      return {folder, /*continued=*/true, {}, {}, RunLock(folder)};
    }
    if (!is_unborn(folder)) {
      fail(ExitCode::usage, "--out {} is not empty and holds no run; name another folder", folder.string());
    }
  }
  RunLock lock(folder);
  if (fs::exists(folder / kRunJson))
    fail(ExitCode::usage, "--out {} was taken by another run at the same moment; name another folder", folder.string());
  return {folder, /*continued=*/false, {}, {}, std::move(lock)};
}

/// Nothing where another process has it.
std::optional<RunLock> try_lock(const fs::path& folder) {
  try {
    return RunLock(folder);
  } catch (const Error& error) {
    if (error.code() != ExitCode::usage) throw;
    return std::nullopt;
  }
}

/// A run.json that cannot be understood.
struct Unreadable : Error {
  using Error::Error;
};

std::string stored_experiment(const fs::path& folder) {
  try {
    return read_run_context(folder).experiment_id;
  } catch (const Error& error) {
    throw Unreadable(error.code(), error.what());
  }
}

/// The folder, where it holds this experiment, or nothing yet and `unborn` may be taken. Throws Unreadable.
std::optional<OpenedFolder> open_stored(const fs::path& folder, bool unborn, const FolderRequest& request) {
  if (!fs::is_directory(folder)) return std::nullopt;
  if (!fs::exists(folder / kRunJson)) {
    if (!unborn || !is_unborn(folder)) return std::nullopt;
    std::optional<RunLock> lock = try_lock(folder);
    if (!lock) return std::nullopt;  // another process is just setting it up
    if (!fs::exists(folder / kRunJson)) return OpenedFolder{folder, /*continued=*/false, {}, {}, std::move(*lock)};
    // and was done between the two looks
    if (stored_experiment(folder) != request.experiment_id) return std::nullopt;
    return OpenedFolder{folder, /*continued=*/true, {}, {}, std::move(*lock)};
  }
  if (stored_experiment(folder) != request.experiment_id) return std::nullopt;
  return OpenedFolder{folder, /*continued=*/true, {}, {}, RunLock(folder)};
}

}  // namespace

fs::path model_folder(int64_t seed, bool several_seeds) {
  return several_seeds ? fs::path("model") / fmt::format("seed-{}", seed) : fs::path("model");
}

fs::path point_folder(const std::string& point) { return fs::path("points") / point; }

fs::path step_folder(int64_t seed, int64_t step) { return train_folder(seed) / fmt::format("step-{:06}", step); }

fs::path train_folder(int64_t seed) { return fs::path("train") / fmt::format("seed-{}", seed); }

Json RunContext::to_json() const {
  return {{"schema_version", 1},
          {"name", name},
          {"experiment_id", experiment_id},
          {"created", created},
          {"tool", tool},
          {"argv", argv},
          {"overrides", overrides},
          {"config_files", config_files},
          {"inputs", inputs},
          {"env", env},
          {"host", host},
          {"fingerprint", fingerprint},
          {"config_origins", config_origins}};
}

RunContext RunContext::from_json(const Json& json) {
  RunContext context;
  context.name = read_field<std::string>(json, "name");
  context.experiment_id = read_field<std::string>(json, "experiment_id");
  context.created = read_field<std::string>(json, "created");
  context.tool = read_facts(json, "tool");
  context.argv = read_field<std::vector<std::string>>(json, "argv");
  context.overrides = read_field<std::vector<std::string>>(json, "overrides");
  context.config_files = read_files(json, "config_files", {"path", "sha256", "text"});
  context.inputs = read_files(json, "inputs", {"role", "path", "sha256"});
  context.env = read_facts(json, "env");
  context.host = read_facts(json, "host");
  context.fingerprint = read_facts(json, "fingerprint");
  if (json.contains("config_origins")) context.config_origins = read_field<std::string>(json, "config_origins");
  return context;
}

std::string loaded_model_sha256(const Json& inputs) {
  std::map<std::string, std::string> files;  // by role, whatever the order of the folder
  for (const Json& input : inputs)
    if (const auto role = read_field<std::string>(input, "role"); role.starts_with("model."))
      files[role] = read_field<std::string>(input, "sha256");
  if (files.empty()) return "";
  Sha256 hash;
  for (const auto& [role, digest] : files) hash.update(role + " " + digest + "\n");
  return hash.hex();
}

std::string write_run_context(const fs::path& run_folder, const RunContext& context) {
  if (fs::exists(run_folder / kRunJson)) throw std::logic_error("run.json is written once");
  const std::string text = dump_json_file(context.to_json());
  write_file(run_folder / kRunJson, text);
  return sha256(text);
}

RunContext read_run_context(const fs::path& run_folder) {
  const fs::path path = run_folder / kRunJson;
  const Json json = read_json(path);
  try {
    return RunContext::from_json(json);
  } catch (const Error& error) {
    fail(error.code(), "{}: {}", path.string(), error.what());
  }
}

RunLock::RunLock(const fs::path& run_folder) {
  const fs::path path = run_folder / kLockFile;
  try {
    folder_ = ::open(run_folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_ < 0) fail(ExitCode::io, "cannot open {}: {}", run_folder.string(), std::strerror(errno));
    // Network file systems that cannot lock folders are left to the file.
    take(folder_, run_folder, /*must=*/false);
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    struct stat status = {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0)
      fail(ExitCode::io, "cannot open {}: {}", path.string(), std::strerror(errno));
    if (!S_ISREG(status.st_mode)) fail(ExitCode::usage, "{} is no regular file: remove it", path.string());
    take(descriptor_, run_folder, /*must=*/true);
  } catch (const Error&) {
    release();
    throw;
  }
  const ProcessId process = this_process();
  const std::string holder = dump_json_file({{"pid", process.pid},
                                             {"pid_start", process.pid_start},
                                             {"host", process.host},
                                             {"boot_id", process.boot_id},
                                             {"started", utc_now()}});
  // For people only: a lock whose holder could not be written is held all the same.
  if (::ftruncate(descriptor_, 0) != 0 || ::pwrite(descriptor_, holder.data(), holder.size(), 0) < 0) {
    log_warn("[record] cannot write the holder into {}: {}", path.string(), std::strerror(errno));
  }
}

void RunLock::take(int descriptor, const fs::path& run_folder, bool must) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK)
    fail(ExitCode::usage, "the run folder {} is in use by {}; wait for it, or start another run with --new",
         run_folder.string(), holder_text(run_folder / kLockFile));
  if (must) fail(ExitCode::io, "cannot lock {}: {}", (run_folder / kLockFile).string(), std::strerror(errno));
}

void RunLock::release() {
  for (int* descriptor : {&descriptor_, &folder_})
    if (const int open = std::exchange(*descriptor, -1); open >= 0) ::close(open);
}

RunLock::RunLock(RunLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), folder_(std::exchange(other.folder_, -1)) {}

RunLock::~RunLock() { release(); }

OpenedFolder open_run_folder(const FolderRequest& request) {
  if (!request.out.empty()) return open_exactly(request);
  make_folders(request.dir);
  const std::map<int64_t, fs::path> existing = existing_folders(request);
  fs::path other;
  for (auto entry = existing.rbegin(); !request.fresh && entry != existing.rend(); ++entry) {
    const fs::path& folder = entry->second;
    try {
      // An older folder without run.json would be taken for newer than the runs after it.
      if (std::optional<OpenedFolder> found = open_stored(folder, entry == existing.rbegin(), request))
        return std::move(*found);
      if (other.empty() && fs::exists(folder / kRunJson)) other = folder;
    } catch (const Unreadable& error) {
      log_warn("[record] {} is passed over: {}", folder.string(), error.what());
    } catch (const fs::filesystem_error& error) {
      log_warn("[record] {} is passed over: {}", folder.string(), error.code().message());
    }
  }
  std::vector<std::string> changed;
  if (!other.empty()) changed = changes(other, request);
  for (int64_t number = existing.empty() ? 1 : existing.rbegin()->first + 1;; ++number) {
    const fs::path folder = request.dir / (number == 1 ? request.name : fmt::format("{}-{}", request.name, number));
    if (!make_exclusively(folder)) continue;
    // Another process that starts at the same moment may have taken the folder for one that was left behind.
    if (std::optional<RunLock> lock = try_lock(folder); lock && !fs::exists(folder / kRunJson))
      return {folder, /*continued=*/false, other, changed, std::move(*lock)};
  }
}

}  // namespace headprune
