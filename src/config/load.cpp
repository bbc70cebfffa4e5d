#include "config/load.h"

#include <algorithm>

#include "config/decode.h"
#include "config/overrides.h"
#include "config/scalars.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/text.h"

namespace headprune {

namespace {

constexpr int64_t kSchemaVersion = 1;
constexpr size_t kOverridesOrder = 1 << 20;  // after every file

std::string read_config(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    fail(ExitCode::usage, "'{}' is a folder, not a configuration file", path.string());
  const uintmax_t bytes = fs::file_size(path, ignored);
  if (!ignored && bytes > kMaxConfigBytes)
    fail(ExitCode::usage, "'{}' is larger than 1 MiB; this is not a configuration", path.string());
  return read_file(path);
}

class Loader {
 public:
  explicit Loader(SectionView& root) : state_{root, problems_, environment_, record_.origins, record_.extras} {}

  LoadRecord load(const ConfigText& text, const fs::path& file, const std::vector<std::string>& overrides) {
    const Place start{source(text.name), 1, 1};
    read_layer(text, file, start.source);
    for (size_t i = 0; i < overrides.size(); ++i) read_override(overrides[i], i);
    if (readable_) finish_config(start, state_);
    problems_.throw_if_any();
    record_.environment = environment_.used();
    return std::move(record_);
  }

 private:
  std::shared_ptr<const Source> source(const std::string& name) {
    return std::make_shared<const Source>(Source{name, sources_++});
  }

  /// What the text extends, then the text itself. `file` is empty for text that stands in no file.
  void read_layer(const ConfigText& text, const fs::path& file, const std::shared_ptr<const Source>& from) {
    const auto known = [&](const ConfigFile& other) { return other.path == file; };
    if (file.empty() || std::none_of(record_.files.begin(), record_.files.end(), known))
      record_.files.push_back({file, sha256(text.text), text.text});
    std::optional<ConfigNode> node = parse_config(text.text, from, problems_);
    if (!node) {
      readable_ = false;
      return;
    }
    chain_.push_back({file, text.name});
    if (const auto at = node->find("schema_version")) read_version(take(*node, *at));
    if (const auto at = node->find("extends")) extend(take(*node, *at), text);
    chain_.pop_back();
    decode_layer(*node, text.folder, state_);
  }

  static ConfigNode take(ConfigNode& map, size_t index) {
    const auto at = static_cast<std::ptrdiff_t>(index);
    ConfigNode value = std::move(map.items[index]);
    map.items.erase(map.items.begin() + at);
    map.keys.erase(map.keys.begin() + at);
    map.key_places.erase(map.key_places.begin() + at);
    return value;
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
        readable_ = false;  // what the file would have set is unknown
      }
    }
  }

  /// Returns "" or why the file cannot be extended.
  std::string extend_file(const std::string& word, const ConfigText& text) {
    const fs::path file = resolve_path(word, text.folder);
    ConfigText base;
    base.name = (fs::path(text.name).parent_path() / word).lexically_normal().string();
    base.folder = file.parent_path();
    std::error_code ignored;
    std::string names;
    for (const Reading& reading : chain_) {
      const bool same = !reading.file.empty() && fs::equivalent(reading.file, file, ignored);
      if (same || !names.empty()) names += reading.name + " -> ";
    }
    if (!names.empty()) return "extends itself: " + names + base.name;
    try {
      base.text = read_config(file);
    } catch (const Error& error) {
      return error.what();
    }
    read_layer(base, file, source(base.name));
    return "";
  }

  void read_override(const std::string& argument, size_t index) {
    const auto from =
        std::make_shared<const Source>(Source{"override:" + std::to_string(index + 1), kOverridesOrder + index});
    const std::optional<ConfigNode> steps = parse_override(argument, from, environment_, problems_);
    if (!steps) return;
    if (steps->keys[0] == "extends" || steps->keys[0] == "schema_version")
      problems_.add(steps->at, steps->keys[0], "stands in files only");
    else
      decode_layer(*steps, fs::current_path(), state_);
  }

  struct Reading {
    fs::path file;
    std::string name;
  };

  LoadRecord record_;
  Problems problems_;
  Environment environment_;
  DecodeState state_;
  std::vector<Reading> chain_;  // the files being read, from the first
  size_t sources_ = 0;
  bool readable_ = true;
};

}  // namespace

LoadRecord load_into(SectionView& root, const fs::path& file, const std::vector<std::string>& overrides) {
  const fs::path absolute = fs::absolute(file).lexically_normal();
  return Loader(root).load({file.string(), read_config(file), absolute.parent_path()}, absolute, overrides);
}

LoadRecord load_into(SectionView& root, const ConfigText& text, const std::vector<std::string>& overrides) {
  return Loader(root).load(text, {}, overrides);
}

}  // namespace headprune
