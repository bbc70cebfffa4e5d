// Reading fields of a JSON object with errors that name the field. Internal to record.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/json.h"

namespace headprune {

/// Throws Error(run_failed) when the field is missing or of another type.
template <class T>
T read_field(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) fail(ExitCode::run_failed, "the field '{}' is missing", key);
  try {
    return found->template get<T>();
  } catch (const nlohmann::json::exception&) {
    fail(ExitCode::run_failed, "the field '{}' has the wrong type", key);
  }
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
