// JSON as docs/formats.md section 1 has it: ordered keys, shortest digits that round-trip, strict reading, no silent
// NaN.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/error.h"

namespace headprune {

using Json = nlohmann::ordered_json;

/// Shortest digits that round-trip, as nlohmann prints them; the one way this program prints a double into a file.
/// Throws std::logic_error for NaN and infinity: callers decide what those mean.
std::string number_text(double value);

/// {"value":x} material: the number, or null with "nonfinite" beside it is the caller's business; this gives the number
/// or null.
Json number_or_null(double value);

/// Compact text with keys in their order; invalid UTF-8 replaced. Throws std::logic_error when a non-finite number is
/// anywhere inside.
std::string dump_json(const Json& json);
/// The same, indented by 1 space a level with a newline at the end, for whole files.
std::string dump_json_file(const Json& json);

/// Canonical JSON for hashing: keys sorted by bytes, no spaces, strings NFC (docs/formats.md section 1). Throws
/// std::logic_error for a non-finite number.
std::string canonical_json(const Json& json);

/// Member `key` as text for a person: a string as it is, anything else as JSON, "unknown" where there is none.
std::string member_text(const Json& json, const char* key);

/// Thrown by parse_json() for a key that one object has twice.
class DuplicateKeyError : public Error {
 public:
  explicit DuplicateKeyError(const std::string& sentence) : Error(ExitCode::run_failed, sentence) {}
};

/// Strict: one value, no duplicate keys at any depth, no byte order mark, at most 1000 levels. The error says `where`
/// (the file) and the byte, counted from 0. Throws Error(run_failed), of which DuplicateKeyError is one.
Json parse_json(std::string_view text, const std::string& where);

}  // namespace headprune
