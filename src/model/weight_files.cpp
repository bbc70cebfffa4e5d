#include "model/weight_files.h"

#include <map>
#include <set>

#include "core/error.h"
#include "core/files.h"
#include "core/open_file.h"
#include "model/checkpoint.h"

namespace headprune {
namespace {

/// Shard to the tensors that the index says it holds.
using Shards = std::map<std::string, std::set<std::string>>;

Shards read_index(const fs::path& folder) {
  const std::string where = (folder / kIndex).string();
  const Json json = read_json(folder / kIndex);
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object() ||
      json["weight_map"].empty())
    fail(ExitCode::run_failed, "{}: no weight_map of tensors and files; the file is damaged", where);
  Shards shards;
  for (const auto& [tensor, file] : json["weight_map"].items()) {
    if (!file.is_string()) fail(ExitCode::run_failed, "{}: the file of tensor {} is no name", where, tensor);
    const std::string name = file.get<std::string>();
    if (name.find('/') != std::string::npos || name.find("..") != std::string::npos)
      fail(ExitCode::run_failed, "{}: {} is not a plain file name", where, name);
    if (!fs::is_regular_file(folder / name))
      fail(ExitCode::run_failed, "{}: the shard {} is missing; copy the whole folder", where, name);
    shards[name].insert(tensor);
  }
  return shards;
}

/// `read` gives the tensors of one file.
template <class Read>
NamedTensors read_all(const fs::path& folder, const Read& read) {
  if (fs::exists(folder / kWeights)) return read(folder / kWeights);
  NamedTensors all;
  for (const auto& [name, expected] : read_index(folder)) {
    const fs::path file = folder / name;
    for (auto& [tensor, value] : read(file)) {
      if (!expected.contains(tensor))
        fail(ExitCode::run_failed, "{}: tensor {} is not in {} for this shard", file.string(), tensor, kIndex);
      all[tensor] = value;
    }
    for (const std::string& tensor : expected)
      if (!all.contains(tensor))
        fail(ExitCode::run_failed, "{}: tensor {} is missing, which {} says is here", file.string(), tensor, kIndex);
  }
  return all;
}

}  // namespace

std::vector<fs::path> weight_files(const fs::path& folder) {
  if (fs::exists(folder / kWeights)) return {folder / kWeights};
  std::vector<fs::path> files;
  for (const auto& shard : read_index(folder)) files.push_back(folder / shard.first);
  return files;
}

NamedTensors read_weights(const fs::path& folder) { return read_all(folder, read_tensors); }

NamedTensors read_weight_outlines(const fs::path& folder) { return read_all(folder, read_outlines); }

}  // namespace headprune
