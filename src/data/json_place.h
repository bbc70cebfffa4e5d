// A value inside a JSON file that another program wrote, with sentences that say where it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/json.h"

namespace headprune {

/// Does not own the JSON. Every reader throws Error(run_failed) with the file and the place.
class JsonPlace {
 public:
  JsonPlace(const Json& json, std::string file, std::string path = {})
      : json_(&json), file_(std::move(file)), path_(std::move(path)) {}

  [[noreturn]] void bad(const std::string& what) const {
    fail(ExitCode::run_failed, "{}: {}{}{}", file_, path_, path_.empty() ? "" : ": ", what);
  }

  /// File and place, for sentences about two of them.
  std::string where() const { return path_.empty() ? file_ : file_ + ": " + path_; }
  const Json& json() const { return *json_; }
  bool null() const { return json_->is_null(); }
  /// Whether the member is there and not null.
  bool has(const char* key) const { return object().contains(key) && !object()[key].is_null(); }
  JsonPlace at(const char* key) const {
    if (!object().contains(key)) bad(fmt::format("\"{}\" is missing", key));
    return {object()[key], file_, path_.empty() ? key : path_ + "." + key};
  }
  JsonPlace at(size_t index) const { return {array()[index], file_, fmt::format("{}[{}]", path_, index)}; }

  const Json& object() const {
    if (!json_->is_object()) bad("must be an object");
    return *json_;
  }
  const Json& array() const {
    if (!json_->is_array()) bad("must be a list");
    return *json_;
  }
  const std::string& text() const {
    if (!json_->is_string()) bad("must be text");
    return json_->get_ref<const std::string&>();
  }
  bool flag() const {
    if (!json_->is_boolean()) bad("must be true or false");
    return json_->get<bool>();
  }
  /// A whole number from 0 to 2^31 - 1.
  int64_t count() const {
    if (!json_->is_number_integer() || *json_ < 0 || *json_ > 2147483647) bad("must be a whole number, 0 or more");
    return json_->get<int64_t>();
  }
  bool flag(const char* key, bool fallback) const { return has(key) ? at(key).flag() : fallback; }
  std::string text(const char* key, const std::string& fallback) const { return has(key) ? at(key).text() : fallback; }

 private:
  const Json* json_;
  std::string file_, path_;
};

}  // namespace headprune
