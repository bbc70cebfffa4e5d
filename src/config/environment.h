// ${env:NAME} and ${env:NAME:-default} in text.
#pragma once

#include <map>
#include <string>

namespace headprune {

/// Replaces references, and remembers the variables that were asked for.
class Environment {
 public:
  /// Replaces every ${env:...} in `text` and turns $${ into ${; what comes out is not looked at again. Returns "" or
  /// what is wrong.
  std::string expand(std::string& text);
  /// Variables asked for and their values, "" where unset.
  const std::map<std::string, std::string>& used() const { return used_; }

 private:
  std::string replace(const std::string& reference, std::string& out);
  std::map<std::string, std::string> used_;
};

/// The text that expand() turns into `text`.
std::string escape_references(const std::string& text);

}  // namespace headprune
