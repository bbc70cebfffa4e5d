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
  /// Whether the text of the last expand() begins with what a variable holds. Such a relative path is one of who set
  /// the variable, so it starts from the working directory.
  bool began_with_variable() const { return began_with_variable_; }
  /// Variables asked for and their values, "" where unset.
  const std::map<std::string, std::string>& used() const { return used_; }

 private:
  std::string replace(const std::string& reference, std::string& out);
  std::map<std::string, std::string> used_;
  bool began_with_variable_ = false;
};

/// The text that expand() turns into `text`.
std::string escape_references(const std::string& text);

}  // namespace headprune
