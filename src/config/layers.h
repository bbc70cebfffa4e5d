// The files of a configuration, taken apart into layers: what the file extends, then the file.
#pragma once

#include <filesystem>

#include "config/document.h"
#include "config/environment.h"

namespace headprune {

struct ConfigFile {
  std::filesystem::path path;  // absolute; empty for text that is in no file
  std::string sha256, text;
};

/// What is loaded: a text that stands in no file is named in messages as `name`, and its relative paths (and
/// `extends`) start at `folder`.
struct ConfigText {
  std::string name, text;
  std::filesystem::path folder;
};

struct ConfigLayer {
  ConfigText from;
  ConfigNode node;  // without `extends` and `schema_version`
};

struct ConfigLayers {
  Place start;                      // of the first file
  std::vector<ConfigLayer> layers;  // in the order in which they are decoded: a later one wins
  std::vector<ConfigFile> files;    // in reading order, the experiment file first
  bool complete = true;             // false: a file could not be read, so what it would have set is unknown
};

/// `file`: a path, or the name of a shipped file (shipped.h). Throws Error(usage) when it cannot be read; problems
/// inside of it, and files that it extends and that cannot be read, go to `problems`.
ConfigLayers read_layers(const std::filesystem::path& file, Problems& problems, Environment& environment);
ConfigLayers read_layers(const ConfigText& text, Problems& problems, Environment& environment);

}  // namespace headprune
