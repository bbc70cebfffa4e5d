// Reading a configuration: defaults, then what the file extends, then the file, then overrides, each decoded over the
// same struct (docs/formats.md section 3).
#pragma once

#include <map>

#include "config/fields.h"
#include "config/layers.h"
#include "config/problems.h"

namespace headprune {

/// How a configuration came about.
struct LoadRecord {
  Origins origins;
  std::vector<ConfigFile> files;                   // in reading order, the experiment file first
  std::map<std::string, std::string> environment;  // variables that ${env:} named, "" where unset, and their values
  Json extras = Json::object();                    // the user's x-* keys by full path: {"train.x-note": ...}
};

template <class Config>
struct Loaded : LoadRecord {
  Config value;
};

/// Decodes over `root`. Throws ConfigError, or Error(usage) when `file` itself cannot be read.
LoadRecord load_into(SectionView& root, const std::filesystem::path& file, const std::vector<std::string>& overrides);
LoadRecord load_into(SectionView& root, const ConfigText& text, const std::vector<std::string>& overrides);

/// `file`: std::filesystem::path (which may name a shipped file) or ConfigText. `overrides`: key=value, in the order of
/// the command line. Afterwards every path in the configuration is absolute and everything that the checks promise
/// holds.
template <class Config, class File>
Loaded<Config> load_config(const File& file, const std::vector<std::string>& overrides = {}) {
  Loaded<Config> loaded;
  detail::BoundSection<Config> root(loaded.value);
  static_cast<LoadRecord&>(loaded) = load_into(root, file, overrides);
  return loaded;
}

/// Whether an argument of the command line is an override: the text before its first '=' is a key path, or it is one of
/// the forms that are answered with the form to write instead (+k=v, ++k=v, ~k).
bool looks_like_override(const std::string& argument);

}  // namespace headprune
