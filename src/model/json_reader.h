// Reading the fields of a struct from JSON that this program wrote (config.json).
#pragma once

#include <string>
#include <vector>

#include "config/fields.h"
#include "core/error.h"
#include "core/json.h"

namespace headprune {

/// Visits the fields of a configuration and reads each from a JSON object; every field must be there.
class JsonReader {
 public:
  JsonReader(const Json& json, const std::string& where) : json_(json), where_(where) {}

  bool states(const char* name) const { return json_.contains(name); }

  template <class T, class... Checks>
  void operator()(const char* name, T& member, const char* /*help*/, const Checks&... checks) {
    if (!json_.contains(name)) refuse(name, "is missing");
    const Json& value = json_[name];
    if constexpr (requires { member.push_back({}); } && !std::is_same_v<T, std::string>) {
      if (!value.is_array() || value.empty()) refuse(name, "is no list");
      member.clear();
      for (const Json& item : value) read(name, item, member.emplace_back());
    } else {
      read(name, value, member);
      if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
        (check(name, static_cast<double>(member), checks), ...);
    }
  }

 private:
  template <class T>
  void read(const char* name, const Json& value, T& member) const {
    if constexpr (std::is_enum_v<T>) {
      const auto known = value.is_string() ? enum_value<T>(value.get<std::string>()) : std::nullopt;
      if (!known) refuse(name, "is not one of the known words");
      member = *known;
    } else if constexpr (std::is_same_v<T, bool>) {
      if (!value.is_boolean()) refuse(name, "is neither true nor false");
      member = value.get<bool>();
    } else {
      if (!(std::is_same_v<T, double> ? value.is_number() : value.is_number_integer())) refuse(name, "is no number");
      member = value.get<T>();
    }
  }
  void check(const char* name, double value, const Constraints& range) const {
    const bool low = range.minimum && (range.minimum_excluded ? value <= *range.minimum : value < *range.minimum);
    const bool high = range.maximum && (range.maximum_excluded ? value >= *range.maximum : value > *range.maximum);
    if (low || high) refuse(name, "is out of range");
  }
  [[noreturn]] void refuse(const char* name, const char* problem) const {
    fail(ExitCode::run_failed, "{}: {} {}; the file is damaged or was written by another version", where_, name,
         problem);
  }

  const Json& json_;
  const std::string& where_;
};

}  // namespace headprune
