#include "cli/run_arguments.h"

#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <cerrno>
#include <cstring>

#include "core/files.h"
#include "core/open_file.h"
#include "record/run_folder.h"

namespace headprune {

fs::path default_baseline(const fs::path& run_folder) {
  try {
    const YAML::Node check = YAML::Load(read_file_up_to(run_folder / kConfig, kMaxJsonFile))["check"];
    if (check && check["baseline"] && check["baseline"].IsScalar()) return check["baseline"].Scalar();
  } catch (const YAML::Exception&) {
    // A config.yaml that cannot be read says nothing about baselines; other commands complain about it.
  } catch (const Error&) {
  }
  const RunContext context = read_run_context(run_folder);
  if (context.config_files.empty()) return {};
  // The experiment file comes first, before what it extends.
  const Json& experiment = context.config_files.front();
  return fs::path(experiment["path"].get<std::string>()).parent_path() / "expected.json";
}

void require_writable(const fs::path& folder, const char* option) {
  if (!fs::exists(folder) || access(folder.c_str(), W_OK) == 0) return;
  fail(ExitCode::io, "cannot write into {} ({}): name another folder with {}", folder.string(), std::strerror(errno),
       option);
}

std::string shown_path(const fs::path& path) {
  const fs::path whole = fs::absolute(path).lexically_normal();
  const fs::path near = whole.lexically_relative(fs::current_path());
  return near.empty() || near.begin()->string() == ".." ? whole.string() : near.string();
}

}  // namespace headprune
