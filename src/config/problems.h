// Places in configuration text, and everything that is wrong with a configuration, reported at once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"

namespace headprune {

/// A text that configuration was read from: a file, or one override ("override:3").
struct Source {
  std::string name;
  size_t order = 0;  // position in reports: files in reading order, then overrides
};

/// Line and column count from 1, columns in bytes. Of an override the line is 0 and not printed.
struct Place {
  std::shared_ptr<const Source> source;
  int line = 0, column = 0;

  /// "experiment.yaml:3:5" or "override:3:1".
  std::string text() const;
};

/// Where each key that some layer set got its value: "train.learning_rate", "score.methods.0.random.draws". Keys that
/// are absent have their default.
using Origins = std::map<std::string, Place>;

/// "default" where no layer set the key.
std::string origin_text(const Origins& origins, const std::string& path);

struct Diagnostic {
  std::string file;  // as in Place: "experiment.yaml", "override:3"
  int line = 0, column = 0;
  std::string path, message;

  /// file:line:column: path: message
  std::string text() const;
};

/// A configuration that cannot be used: all of its problems, sorted; exit code 2. what() has one line for each.
class ConfigError : public Error {
 public:
  explicit ConfigError(std::vector<Diagnostic> diagnostics);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// Collects problems while layers are decoded.
class Problems {
 public:
  void add(const Place& place, const std::string& path, const std::string& message);
  bool empty() const { return found_.empty(); }
  /// Whether a problem stands at this key or inside it.
  bool concerns(const std::string& path) const;
  /// The value at `path` is unknown: a plug-in without a known name, a missing key. Rules about several keys of a
  /// section that holds it cannot be judged.
  void mark_undecided(const std::string& path) { undecided_.push_back(path); }
  bool undecided_inside(const std::string& section) const;
  void throw_if_any() const;

 private:
  struct Found {
    Place place;
    std::string path, message;
  };
  std::vector<Found> found_;
  std::vector<std::string> undecided_;
};

/// "a.b" of "a" and "b"; an empty part is left out.
std::string join_path(const std::string& section, const std::string& key);
/// "a.b" of "a.b.c"; "" of "a".
std::string parent_path(const std::string& path);
/// Whether `path` is `above` or inside it.
bool is_inside(const std::string& path, const std::string& above);

}  // namespace headprune
