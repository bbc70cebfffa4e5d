#include "config/document.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "config/scalars.h"
#include "core/text.h"

namespace headprune {

std::optional<size_t> ConfigNode::find(const std::string& key) const {
  const auto at_key = std::find(keys.begin(), keys.end(), key);
  if (at_key == keys.end()) return std::nullopt;
  return static_cast<size_t>(at_key - keys.begin());
}

std::string describe(const ConfigNode& node) {
  switch (node.kind) {
    case ConfigNode::Kind::null:
      return "nothing";
    case ConfigNode::Kind::list:
      return "a list";
    case ConfigNode::Kind::map:
    case ConfigNode::Kind::step:
      return "a section";
    case ConfigNode::Kind::scalar:
      break;
  }
  if (node.text.size() <= 60) return "'" + node.text + "'";
  size_t cut = 57;
  while (cut > 0 && (static_cast<unsigned char>(node.text[cut]) & 0xC0) == 0x80) --cut;  // not inside a character
  return "'" + node.text.substr(0, cut) + "...'";
}

Json raw_json(const ConfigNode& node) {
  switch (node.kind) {
    case ConfigNode::Kind::null:
      return nullptr;
    case ConfigNode::Kind::list: {
      Json list = Json::array();
      for (const ConfigNode& item : node.items) list.push_back(raw_json(item));
      return list;
    }
    case ConfigNode::Kind::map:
    case ConfigNode::Kind::step: {
      Json map = Json::object();
      for (size_t i = 0; i < node.keys.size(); ++i) map[node.keys[i]] = raw_json(node.items[i]);
      return map;
    }
    case ConfigNode::Kind::scalar:
      break;
  }
  bool flag = false;
  int64_t whole = 0;
  double number = 0;
  if (read_bool(node, flag).empty()) return flag;
  if (read_integer(node, whole).empty()) return whole;
  if (read_number(node, number).empty()) return number;
  return node.text;
}

bool is_key(const std::string& word) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (word.empty() || !letter(word[0])) return false;
  return std::all_of(word.begin(), word.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-'; });
}

namespace {

using SourcePtr = std::shared_ptr<const Source>;

/// Line and column of a byte offset.
Place place_of(const std::string& text, size_t offset, const SourcePtr& source) {
  Place place{source, 1, 1};
  for (size_t i = 0; i < offset; ++i) {
    ++place.column;
    if (text[i] == '\n') ++place.line, place.column = 1;
  }
  return place;
}

/// Byte-order mark and carriage returns removed; what is not text of our dialect is reported.
std::optional<std::string> clean_text(std::string text, const SourcePtr& source, Problems& problems) {
  const auto reject = [&](size_t offset, const std::string& message) {
    problems.add(place_of(text, offset, source), "", message);
    return std::nullopt;
  };
  if (text.size() > kMaxConfigBytes) return reject(0, "larger than 1 MiB; this is not a configuration");
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    return reject(0, "the text is UTF-16; save it as UTF-8");
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  if (const size_t zero = text.find('\0'); zero != std::string::npos)
    return reject(zero, "a NUL byte; save the text as UTF-8");
  if (const std::optional<size_t> bad = invalid_utf8(text))
    return reject(*bad, "invalid UTF-8; save the text as UTF-8");
  std::string clean;
  clean.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i)
    if (!(text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n')) clean += text[i];
  text = clean;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\t' && c != '\n') || c == 0x7F)
      return reject(i, fmt::format("control character 0x{:02X}", c));
  }
  bool tabs = false;
  for (size_t line = 0; line < text.size();) {
    const size_t end = std::min(text.find('\n', line), text.size());
    const size_t first = std::min(text.find_first_not_of(" \t", line), end);
    const size_t tab = text.find('\t', line);
    if (tab < first && first < end && text[first] != '#') {
      problems.add(place_of(text, tab, source), "", "a tab as indentation; use spaces");
      tabs = true;
    }
    line = end + 1;
  }
  if (tabs) return std::nullopt;
  return text;
}

class TreeBuilder {
 public:
  TreeBuilder(const SourcePtr& source, Problems& problems) : source_(source), problems_(problems) {}

  /// `at`: where the key (or the parent) of this value stands.
  ConfigNode build(const YAML::Node& yaml, const Place& at, const std::string& path, bool has_key) {
    ConfigNode node;
    node.at = at;
    if (++nodes_ > kMaxConfigNodes) {
      if (nodes_ == kMaxConfigNodes + 1) problems_.add(at, path, "more than 100000 values, aliases expanded");
      return node;
    }
    if (depth_ >= kMaxConfigDepth) {
      problems_.add(at, path.substr(0, path.find('.')), "nested deeper than 64 levels; does an alias hold itself?");
      return node;
    }
    // The mark of an alias is the place of its anchor, which is of no help; that of an empty value is the next token.
    const Place own = place(yaml.Mark());
    const bool alias = own.line < at.line || (own.line == at.line && own.column < at.column);
    if (yaml.IsScalar() || (!has_key && !yaml.IsNull())) node.at = alias ? at : own;
    const std::string& tag = yaml.Tag();
    if (tag.size() > 1)
      problems_.add(node.at, path, "explicit tags such as !!str are not supported; the key decides the type");
    ++depth_;
    if (yaml.IsScalar()) {
      node.kind = ConfigNode::Kind::scalar;
      node.text = yaml.Scalar();
      node.quoted = tag == "!";
    } else if (yaml.IsSequence()) {
      node.kind = ConfigNode::Kind::list;
      size_t index = 0;
      for (const auto& item : yaml)
        node.items.push_back(build(item, node.at, join_path(path, std::to_string(index++)), /*has_key=*/false));
    } else if (yaml.IsMap()) {
      node.kind = ConfigNode::Kind::map;
      for (const auto& item : yaml) add_entry(node, item.first, item.second, path);
    }
    --depth_;
    return node;
  }

 private:
  Place place(const YAML::Mark& mark) const { return {source_, mark.line + 1, mark.column + 1}; }

  void add_entry(ConfigNode& map, const YAML::Node& key, const YAML::Node& value, const std::string& path) {
    const Place at = place(key.Mark());
    if (!key.IsScalar()) {
      problems_.add(at, path, "keys must be plain words");
      return;
    }
    const std::string& word = key.Scalar();
    const std::string full = join_path(path, word);
    if (word == "<<") {
      problems_.add(at, path, "merge keys are not supported; use 'extends: [file.yaml]'");
    } else if (!is_key(word)) {
      const size_t colon = word.find(':');
      const bool no_space = value.IsNull() && colon != std::string::npos && is_key(word.substr(0, colon));
      problems_.add(
          at, path,
          no_space ? "write a space after the colon: '" + word.substr(0, colon) + ": " + word.substr(colon + 1) + "'"
                   : "keys must be plain words, got '" + word + "'");
    } else if (const auto first = map.find(word)) {
      const Place& before = map.key_places[*first];
      problems_.add(at, full, fmt::format("duplicate key; it stands at {} already", before.text()));
    } else {
      ConfigNode built = build(value, at, full, /*has_key=*/true);
      map.keys.push_back(word);
      map.key_places.push_back(at);
      map.items.push_back(std::move(built));
    }
  }

  const SourcePtr& source_;
  Problems& problems_;
  size_t nodes_ = 0, depth_ = 0;
};

/// yaml-cpp's own message, with a hint where experience has one.
std::string syntax_message(const YAML::Exception& error, const std::string& text) {
  if (error.msg == "bad file") return "nested deeper than 64 levels";
  const std::vector<std::string_view> lines = split(text, '\n');
  const auto at = static_cast<size_t>(std::max(error.mark.line, 0));
  for (size_t line = at > 0 ? at - 1 : 0; line <= at && line < lines.size(); ++line)
    if (lines[line].find("${") != std::string_view::npos)
      return "not valid YAML: " + error.msg +
             "; inside [ ] or { } text with ${env:NAME} must be quoted: \"${env:NAME}\"";
  return "not valid YAML: " + error.msg;
}

}  // namespace

std::optional<ConfigNode> parse_config(const std::string& bytes, const SourcePtr& source, Problems& problems) {
  const std::optional<std::string> text = clean_text(bytes, source, problems);
  if (!text) return std::nullopt;
  const Place start{source, 1, 1};
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(*text);
    const auto is_empty = [](const YAML::Node& node) { return !node.IsDefined() || node.IsNull(); };
    if (documents.empty() || (documents.size() == 1 && is_empty(documents[0]))) {
      problems.add(start, "", "the file is empty; it needs keys such as 'name: quickstart'");
      return std::nullopt;
    }
    if (documents.size() > 1) {
      const YAML::Mark mark = documents[1].Mark();
      problems.add({source, mark.line + 1, mark.column + 1}, "", "a second document; one file is one experiment");
      return std::nullopt;
    }
    const YAML::Node& root = documents[0];
    if (!root.IsMap()) {
      const bool no_space = root.IsScalar() && root.Scalar().find(':') != std::string::npos;
      const YAML::Mark mark = root.Mark();
      problems.add({source, mark.line + 1, mark.column + 1}, "",
                   std::string("expected keys and values at the top level, such as 'name: quickstart'") +
                       (no_space ? "; is a space missing after a colon?" : ""));
      return std::nullopt;
    }
    return TreeBuilder(source, problems).build(root, start, "", /*has_key=*/true);
  } catch (const YAML::Exception& error) {
    const bool known = !error.mark.is_null();
    problems.add(known ? Place{source, error.mark.line + 1, error.mark.column + 1} : start, "",
                 syntax_message(error, *text));
    return std::nullopt;
  }
}

}  // namespace headprune
