// Scalars of configuration text: our own resolver (never YAML::as<T>). Each read returns "" or what is wrong.
#pragma once

#include "config/document.h"
#include "config/value.h"

namespace headprune {

std::string read_integer(const ConfigNode& node, int64_t& out);
std::string read_number(const ConfigNode& node, double& out);
std::string read_bool(const ConfigNode& node, bool& out);
/// Text of a scalar as it stands.
std::string read_text(const ConfigNode& node, const std::string& expected, std::string& out);

/// "" or the broken limit; `shown` is the value as the user wrote it.
std::string check_range(double value, const std::string& shown, const Constraints& constraints);
/// "at least 1", "above 0 and at most 1", "" without limits.
std::string range_text(const Constraints& constraints);
/// A limit without a needless point: 1, 0.5.
std::string limit_text(double limit);

/// "; did you mean 'x'?", or "; " + `otherwise` and the words.
std::string suggestion(const std::string& word, const std::vector<std::string>& words, const std::string& otherwise);

}  // namespace headprune
