#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "record/json_fields.h"
#include "record/run_folder.h"

namespace headprune {
namespace {

using Flat = std::map<std::string, std::string>;

bool is_leaf(const YAML::Node& node) {
  if (node.IsMap()) return node.size() == 0;
  if (!node.IsSequence()) return true;
  return std::all_of(node.begin(), node.end(), [](const YAML::Node& item) { return item.IsScalar() || item.IsNull(); });
}

std::string leaf_text(const YAML::Node& node) {
  if (node.IsScalar()) return node.Scalar();
  if (node.IsMap()) return "{}";
  if (!node.IsSequence()) return "null";
  std::vector<std::string> items;
  for (const YAML::Node& item : node) items.push_back(leaf_text(item));
  return "[" + join(items, ", ") + "]";
}

/// `left` counts down: aliases of aliases stand for more values than any memory holds.
void flatten(const YAML::Node& node, const std::string& path, Flat& flat, int64_t& left) {
  if (--left < 0) fail(ExitCode::run_failed, "a stored config.yaml has too many values");
  if (is_leaf(node)) {
    flat[path] = leaf_text(node);
    return;
  }
  const std::string prefix = path.empty() ? "" : path + ".";
  if (node.IsSequence()) {
    for (size_t i = 0; i < node.size(); ++i) flatten(node[i], prefix + std::to_string(i), flat, left);
    return;
  }
  for (const auto& entry : node) flatten(entry.second, prefix + entry.first.Scalar(), flat, left);
}

std::vector<std::string> flat_diff(const Flat& a, const Flat& b) {
  std::set<std::string> keys;
  for (const auto& [key, value] : a) keys.insert(key);
  for (const auto& [key, value] : b) keys.insert(key);
  const auto text = [](const Flat& flat, const std::string& key) {
    const auto found = flat.find(key);
    return found == flat.end() ? std::string("(absent)") : found->second;
  };
  std::vector<std::string> lines;
  for (const std::string& key : keys) {
    const std::string before = text(a, key), after = text(b, key);
    if (before != after) lines.push_back(fmt::format("{}: {} -> {}", key, before, after));
  }
  return lines;
}

Flat inputs_by_role(const Json& inputs) {
  Flat flat;
  for (const Json& input : inputs) {
    flat[read_field<std::string>(input, "role")] =
        fmt::format("sha256 {}", read_field<std::string>(input, "sha256").substr(0, 16));
  }
  return flat;
}

}  // namespace

std::map<std::string, std::string> flat_config(const std::string& yaml) {
  Flat flat;
  try {
    int64_t left = 100000;  // as in docs/formats.md section 3
    flatten(YAML::Load(yaml), "", flat, left);
  } catch (const YAML::Exception& error) {
    fail(ExitCode::run_failed, "a stored config.yaml cannot be read: {}", error.what());
  }
  return flat;
}

std::vector<std::string> fingerprint_diff(const Json& stored, const Json& now) {
  std::vector<std::string> lines;
  for (const char* key : {"threads", "batch_size", "padding", "device", "device_name", "dtype", "cpu_capability",
                          "blas", "blas_core", "linear", "torch", "deterministic"}) {
    const auto text = [&](const Json& json) {
      return json.is_object() && json.contains(key) ? dump_json(json.at(key)) : std::string("(absent)");
    };
    const std::string before = text(stored), after = text(now);
    if (before != after) lines.push_back(fmt::format("{}: {} -> {}", key, before, after));
  }
  return lines;
}

std::vector<std::string> config_diff(const std::string& yaml_a, const std::string& yaml_b) {
  return flat_diff(flat_config(yaml_a), flat_config(yaml_b));
}

std::vector<std::string> inputs_diff(const Json& a, const Json& b) {
  return flat_diff(inputs_by_role(a), inputs_by_role(b));
}

}  // namespace headprune
