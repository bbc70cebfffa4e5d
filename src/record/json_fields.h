// Reading fields of a JSON object with errors that name the field. Internal to record.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/heads.h"
#include "core/json.h"
#include "core/text.h"

namespace headprune {

/// Whether `json` is of the type itself: nlohmann's get() also makes 1 of true and of 1.9.
inline bool is_of(const Json&, const Json*) { return true; }
inline bool is_of(const Json& json, const bool*) { return json.is_boolean(); }
inline bool is_of(const Json& json, const double*) { return json.is_number(); }
inline bool is_of(const Json& json, const std::string*) { return json.is_string(); }
inline bool is_of(const Json& json, const int64_t*) {
  if (json.is_number_unsigned()) return json.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX);
  return json.is_number_integer();
}
template <class T>
bool is_of(const Json& json, const std::vector<T>*);
template <class T, size_t N>
bool is_of(const Json& json, const std::array<T, N>*) {
  return json.is_array() && json.size() == N && is_of(json, static_cast<const std::vector<T>*>(nullptr));
}
template <class T>
bool is_of(const Json& json, const std::vector<T>*) {
  return json.is_array() && std::all_of(json.begin(), json.end(),
                                        [](const Json& one) { return is_of(one, static_cast<const T*>(nullptr)); });
}

/// The member, which must be there. Throws Error(run_failed), also where `json` is no object.
inline const Json& read_member(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) fail(ExitCode::run_failed, "the field '{}' is missing", key);
  return *found;
}

/// Throws Error(run_failed) when the field is missing or of another type.
template <class T>
T read_field(const Json& json, const char* key) {
  const Json& found = read_member(json, key);
  if (!is_of(found, static_cast<const T*>(nullptr)))
    fail(ExitCode::run_failed, "the field '{}' has the wrong type", key);
  return found.get<T>();
}

/// A list of anything, to go through.
inline const Json& read_list(const Json& json, const char* key) {
  const Json& found = read_member(json, key);
  if (!found.is_array()) fail(ExitCode::run_failed, "the field '{}' must be a list", key);
  return found;
}

/// An object of anything, to go through.
inline const Json& read_object(const Json& json, const char* key) {
  const Json& found = read_member(json, key);
  if (!found.is_object()) fail(ExitCode::run_failed, "the field '{}' must be an object", key);
  return found;
}

/// A whole number from 0.
inline int64_t read_count(const Json& json, const char* key) {
  const auto count = read_field<int64_t>(json, key);
  if (count < 0) fail(ExitCode::run_failed, "the field '{}' is {}, and must not be negative", key, count);
  return count;
}

/// A layer or a head. More than any model has would make tables that no memory holds.
inline constexpr int64_t kMostIndices = 4096;
inline int64_t read_index(const Json& json, const char* key) {
  const auto index = read_field<int64_t>(json, key);
  if (index < 0 || index >= kMostIndices)
    fail(ExitCode::run_failed, "the field '{}' is {}, and must be from 0 to {}", key, index, kMostIndices - 1);
  return index;
}

/// Ids of heads.
inline std::vector<int64_t> read_heads(const Json& json, const char* key) {
  std::vector<int64_t> heads = read_field<std::vector<int64_t>>(json, key);
  for (size_t i = 0; i < heads.size(); ++i)
    if (heads[i] < 0 || heads[i] >= kMostIndices || (i > 0 && heads[i] <= heads[i - 1]))
      fail(ExitCode::run_failed, "the field '{}' must be ascending whole numbers from 0 to {}", key, kMostIndices - 1);
  return heads;
}

/// `kind` and `layer`.
inline BlockId read_block(const Json& json) {
  return {parse_kind(read_field<std::string>(json, "kind")), read_index(json, "layer")};
}

/// [a-z0-9_]+, or nothing: labels become names of files and tensors.
inline void require_label(const std::string& label, const char* key) {
  const auto fine = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  if (!std::all_of(label.begin(), label.end(), fine))
    fail(ExitCode::run_failed, "the field '{}' is no label of a-z, 0-9 and _", key);
}

inline std::string read_label(const Json& json, const char* key) {
  std::string label = read_field<std::string>(json, key);
  if (label.empty()) fail(ExitCode::run_failed, "the field '{}' is empty", key);
  require_label(label, key);
  return label;
}

/// Labels joined by dots: "hard_concrete.lambda_0.1".
inline std::string read_labels(const Json& json, const char* key) {
  std::string labels = read_field<std::string>(json, key);
  for (const std::string_view label : split(labels, '.')) {
    if (label.empty()) fail(ExitCode::run_failed, "the field '{}' has an empty label", key);
    require_label(std::string(label), key);
  }
  return labels;
}

template <class T>
std::optional<T> read_optional(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return std::nullopt;
  return read_field<T>(json, key);
}

template <class T>
T read_or(const Json& json, const char* key, T fallback) {
  return read_optional<T>(json, key).value_or(std::move(fallback));
}

template <class T>
void write_optional(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

inline void write_text(Json& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = text;
}

}  // namespace headprune
