#include "config/layers.h"

#include <algorithm>

#include "config/decode.h"
#include "config/scalars.h"
#include "config/shipped.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/text.h"

namespace headprune {

namespace {

constexpr int64_t kSchemaVersion = 1;

std::string read_config(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    fail(ExitCode::usage, "'{}' is a folder, not a configuration file", path.string());
  const uintmax_t bytes = fs::file_size(path, ignored);
  if (!ignored && bytes > kMaxConfigBytes)
    fail(ExitCode::usage, "'{}' is larger than 1 MiB; this is not a configuration", path.string());
  return read_file(path);
}

ConfigNode take(ConfigNode& map, size_t index) {
  const auto at = static_cast<std::ptrdiff_t>(index);
  ConfigNode value = std::move(map.items[index]);
  map.items.erase(map.items.begin() + at);
  map.keys.erase(map.keys.begin() + at);
  map.key_places.erase(map.key_places.begin() + at);
  return value;
}

class LayerReader {
 public:
  LayerReader(Problems& problems, Environment& environment) : problems_(problems), environment_(environment) {}

  /// `file` is empty for text that stands in no file.
  ConfigLayers read(const ConfigText& text, const fs::path& file) {
    read_.start = {source(text.name), 1, 1};
    read_layer(text, file, read_.start.source);
    return std::move(read_);
  }

 private:
  std::shared_ptr<const Source> source(const std::string& name) {
    return std::make_shared<const Source>(Source{name, sources_++});
  }

  /// What the text extends, then the text itself.
  void read_layer(const ConfigText& text, const fs::path& file, const std::shared_ptr<const Source>& from) {
    const auto known = [&](const ConfigFile& other) { return other.path == file; };
    if (file.empty() || std::none_of(read_.files.begin(), read_.files.end(), known))
      read_.files.push_back({file, sha256(text.text), text.text});
    std::optional<ConfigNode> node = parse_config(text.text, from, problems_);
    if (!node) {
      read_.complete = false;
      return;
    }
    chain_.push_back({file, text.name});
    if (const auto at = node->find("schema_version")) read_version(take(*node, *at));
    if (const auto at = node->find("extends")) extend(take(*node, *at), text);
    chain_.pop_back();
    read_.layers.push_back({text, std::move(*node)});
  }

  void read_version(const ConfigNode& node) {
    int64_t version = 0;
    std::string why = read_integer(node, version);
    if (why.empty() && version > kSchemaVersion)
      why = fmt::format("version {} needs a newer headprune; this one reads version {}", version, kSchemaVersion);
    if (why.empty() && version < 1) why = fmt::format("must be {}, got {}", kSchemaVersion, version);
    if (!why.empty()) problems_.add(node.at, "schema_version", why);
  }

  void extend(const ConfigNode& node, const ConfigText& text) {
    if (node.kind != ConfigNode::Kind::list) {
      problems_.add(node.at, "extends",
                    node.kind == ConfigNode::Kind::scalar ? fmt::format("expected a list; write [{}]", node.text)
                                                          : "expected a list of files, got " + describe(node));
      return;
    }
    for (size_t i = 0; i < node.items.size(); ++i) {
      const std::string path = "extends." + std::to_string(i);
      std::string word;
      std::string why = read_text(node.items[i], "a path", word);
      if (why.empty()) why = environment_.expand(word);
      if (why.empty() && word.empty()) why = "must not be empty";
      if (why.empty()) why = extend_file(word, text);
      if (!why.empty()) {
        problems_.add(node.items[i].at, path, why);
        read_.complete = false;
      }
    }
  }

  /// Returns "" or why the file cannot be extended.
  std::string extend_file(const std::string& word, const ConfigText& text) {
    fs::path file;
    ConfigText base;
    try {
      file = is_shipped(word) ? shipped_file(word) : resolve_path(word, text.folder);
      base.name = is_shipped(word) ? word : (fs::path(text.name).parent_path() / word).lexically_normal().string();
      base.folder = file.parent_path();
      if (const std::string circle = circle_to(file, base.name); !circle.empty()) return circle;
      base.text = read_config(file);
    } catch (const Error& error) {
      return error.what() + shipped_hint(word, file);
    }
    read_layer(base, file, source(base.name));
    return "";
  }

  /// "" or the files that lead from `file` back to it.
  std::string circle_to(const fs::path& file, const std::string& name) const {
    std::error_code ignored;
    std::string names;
    for (const Reading& reading : chain_) {
      const bool same = !reading.file.empty() && fs::equivalent(reading.file, file, ignored);
      if (same || !names.empty()) names += reading.name + " -> ";
    }
    return names.empty() ? "" : "extends itself: " + names + name;
  }

  /// For a path that is not there, but that of a shipped file would be.
  static std::string shipped_hint(const std::string& word, const fs::path& file) {
    std::error_code ignored;
    const std::string name = kShipped + word;
    const std::vector<std::string> known = shipped_names();
    const bool shipped = !fs::exists(file, ignored) && std::find(known.begin(), known.end(), name) != known.end();
    return shipped ? "; the one that comes with headprune is '" + name + "'" : "";
  }

  struct Reading {
    fs::path file;
    std::string name;
  };

  Problems& problems_;
  Environment& environment_;
  ConfigLayers read_;
  std::vector<Reading> chain_;  // the files being read, from the first
  size_t sources_ = 0;
};

}  // namespace

ConfigLayers read_layers(const fs::path& file, Problems& problems, Environment& environment) {
  const std::string name = file.string();
  const fs::path absolute = is_shipped(name) ? shipped_file(name) : fs::absolute(file).lexically_normal();
  return LayerReader(problems, environment).read({name, read_config(absolute), absolute.parent_path()}, absolute);
}

ConfigLayers read_layers(const ConfigText& text, Problems& problems, Environment& environment) {
  return LayerReader(problems, environment).read(text, {});
}

}  // namespace headprune
