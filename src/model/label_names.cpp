#include "model/label_names.h"

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/text.h"
#include "data/labels.h"

namespace headprune {

namespace {

bool has(const Json& config, const char* key) { return config.contains(key) && !config[key].is_null(); }

/// Members that are objects. Empty where the key is absent.
const Json& member(const Json& config, const char* key, const std::string& where) {
  static const Json kNone = Json::object();
  if (!has(config, key)) return kNone;
  if (!config[key].is_object() || config[key].empty())
    fail(ExitCode::run_failed, "{}: {} is {}; expected one name a label", where, key, dump_json(config[key]));
  return config[key];
}

std::optional<size_t> index_of(const Json& value) {
  if (value.is_number_unsigned()) return value.get<size_t>();
  const auto number = value.is_string() ? parse_number(value.get<std::string>()) : std::nullopt;
  if (!number || *number < 0 || *number > 1e6 || *number != static_cast<double>(static_cast<size_t>(*number)))
    return std::nullopt;
  return static_cast<size_t>(*number);
}

/// id2label, by index.
std::map<size_t, std::string> names_of_outputs(const Json& config, const std::string& where) {
  const Json& stated = member(config, "id2label", where);
  std::map<size_t, std::string> names;
  for (const auto& [key, name] : stated.items()) {
    const std::optional<size_t> index = index_of(Json(key));
    if (!index || *index >= stated.size() || (!name.is_string() && !name.is_number()))
      fail(ExitCode::run_failed, "{}: id2label has \"{}\": {}; expected one name for each of the numbers 0 to {}",
           where, key, dump_json(name), stated.size() - 1);
    names[*index] = name.is_string() ? name.get<std::string>() : dump_json(name);
  }
  return names;
}

/// label2id; several names may stand for one output.
std::vector<std::pair<std::string, size_t>> outputs_of_names(const Json& config, const std::string& where) {
  std::vector<std::pair<std::string, size_t>> outputs;
  for (const auto& [name, value] : member(config, "label2id", where).items()) {
    const std::optional<size_t> index = index_of(value);
    if (!index)
      fail(ExitCode::run_failed, "{}: label2id has \"{}\": {}; expected the number of an output", where, name,
           dump_json(value));
    outputs.emplace_back(name, *index);
  }
  return outputs;
}

/// The names that label2id has for an output, placeholders left out.
std::vector<std::string> aliases(const std::vector<std::pair<std::string, size_t>>& outputs, size_t output) {
  std::vector<std::string> names;
  for (const auto& [name, index] : outputs)
    if (index == output && !is_placeholder(name, index)) names.push_back(name);
  return names;
}

}  // namespace

Json id2label_json(const std::vector<std::string>& labels) {
  Json json = Json::object();
  for (size_t i = 0; i < labels.size(); ++i) json[std::to_string(i)] = labels[i];
  return json;
}

Json label2id_json(const std::vector<std::string>& labels) {
  Json json = Json::object();
  for (size_t i = 0; i < labels.size(); ++i) json[labels[i]] = i;
  return json;
}

std::optional<int64_t> stated_outputs(const Json& config, const std::string& where) {
  const auto named = static_cast<int64_t>(member(config, "id2label", where).size());
  std::optional<int64_t> counted;
  if (has(config, "num_labels")) {
    if (!config["num_labels"].is_number_integer() || config["num_labels"] < 1)
      fail(ExitCode::run_failed, "{}: num_labels is {}; expected a positive whole number", where,
           dump_json(config["num_labels"]));
    counted = config["num_labels"].get<int64_t>();
  }
  if (named > 0 && counted && *counted != named)
    fail(ExitCode::run_failed, "{}: id2label has {} labels and num_labels is {}; correct one of them", where, named,
         *counted);
  if (named > 0) return named;
  if (counted) return counted;
  int64_t highest = -1;
  for (const auto& [name, index] : outputs_of_names(config, where))
    highest = std::max(highest, static_cast<int64_t>(index));
  return highest < 0 ? std::nullopt : std::optional(highest + 1);
}

std::vector<std::string> labels_from_json(const Json& config, const std::string& where) {
  std::map<size_t, std::string> names = names_of_outputs(config, where);
  const auto outputs = outputs_of_names(config, where);
  if (names.empty() && outputs.empty()) return {};
  const auto count = static_cast<size_t>(stated_outputs(config, where).value_or(0));
  for (const auto& [name, index] : outputs)
    if (index >= count)
      fail(ExitCode::run_failed, "{}: label2id calls output {} \"{}\", and there are {}; correct label2id or id2label",
           where, index, name, count);
  std::vector<std::string> labels;
  for (size_t i = 0; i < count; ++i) {
    const std::vector<std::string> others = aliases(outputs, i);
    const auto named = names.find(i);
    const std::string name = named == names.end() ? "" : named->second;
    if (name.empty() || is_placeholder(name, i)) {
      labels.push_back(others.empty() ? fmt::format("LABEL_{}", i) : others.front());
      continue;
    }
    const bool agree = others.empty() || std::any_of(others.begin(), others.end(), [&](const std::string& other) {
                         return folded_label(other) == folded_label(name);
                       });
    if (!agree)
      fail(ExitCode::run_failed, "{}: id2label calls output {} \"{}\" and label2id \"{}\"; correct one of them", where,
           i, name, join(others, "\", \""));
    labels.push_back(name);
  }
  for (const auto& [name, index] : outputs)
    for (size_t i = 0; i < count; ++i)
      if (i != index && names.contains(i) && name == names.at(i) && (!names.contains(index) || names.at(index) != name))
        fail(ExitCode::run_failed,
             "{}: id2label calls output {} \"{}\", which label2id says is {}; correct one of them", where, i, name,
             index);
  return labels;
}

}  // namespace headprune
