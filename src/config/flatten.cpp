#include "config/flatten.h"

#include <algorithm>
#include <set>

#include "core/text.h"

namespace headprune {

namespace {

constexpr size_t kWidth = 120;

/// With their #.
struct Comments {
  std::vector<std::string> above;  // lines
  std::string beside;              // "" where there is none

  bool empty() const { return above.empty() && beside.empty(); }
};

/// A value with its key and the comments around it.
struct Part {
  std::string key;  // "" of a list entry
  Comments comments;
  ConfigNode::Kind kind = ConfigNode::Kind::null;
  std::string text;  // of a scalar, as YAML
  std::vector<Part> items;
};

std::string scalar_text(const ConfigNode& node) {
  const bool plain = !node.quoted && node.text.find_first_of(",[]{}\"'#&*!|>%@`\n\\") == std::string::npos &&
                     node.text.find(": ") == std::string::npos;
  return plain ? node.text : dump_json(node.text);
}

/// Builds the parts of one layer. YAML readers drop comments, so they are found again by the places of the keys.
class PartBuilder {
 public:
  explicit PartBuilder(const std::string& text) {
    for (const std::string_view line : split(text, '\n')) lines_.emplace_back(line);
    for (size_t line = 0; line < lines_.size() && is_comment(line); ++line) header_.push_back(take_comment(line));
  }

  /// The comment at the top of the file.
  const std::vector<std::string>& header() const { return header_; }

  /// A part without key and comments of its own.
  Part build(const ConfigNode& node) {
    Part part;
    part.kind = node.kind;
    if (node.kind == ConfigNode::Kind::scalar) part.text = scalar_text(node);
    for (size_t i = 0; i < node.items.size(); ++i) {
      const Comments found = comments(node.is_map() ? node.key_places[i] : node.items[i].at);
      part.items.push_back(build(node.items[i]));
      part.items.back().comments = found;
      if (node.is_map()) part.items.back().key = node.keys[i];
    }
    return part;
  }

 private:
  static size_t start_of(const std::string& line) { return std::min(line.find_first_not_of(" -"), line.size()); }
  bool is_comment(size_t line) const { return std::string(trim(lines_[line])).starts_with("#"); }
  std::string take_comment(size_t line) {
    taken_.insert(line);
    return std::string(trim(lines_[line]));
  }

  /// Those above and beside the line that begins at `at`; of a line that holds several values, they are the first's.
  Comments comments(const Place& at) {
    Comments found;
    const auto line = static_cast<size_t>(at.line - 1);
    if (line >= lines_.size() || start_of(lines_[line]) != static_cast<size_t>(at.column - 1)) return found;
    if (!taken_.insert(line).second) return found;
    size_t first = line;
    while (first > 0 && is_comment(first - 1) && !taken_.contains(first - 1)) --first;
    for (; first < line; ++first) found.above.push_back(take_comment(first));
    char quote = 0;
    const std::string& text = lines_[line];
    for (size_t i = 1; i < text.size() && found.beside.empty(); ++i) {
      if (text[i] == quote)
        quote = 0;
      else if (!quote && (text[i] == '"' || text[i] == '\''))
        quote = text[i];
      else if (!quote && text[i] == '#' && text[i - 1] == ' ')
        found.beside = text.substr(i);
    }
    return found;
  }

  std::vector<std::string> lines_, header_;
  std::set<size_t> taken_;
};

const Part* find(const Part& map, const std::string& key) {
  const auto found =
      std::find_if(map.items.begin(), map.items.end(), [&](const Part& part) { return part.key == key; });
  return found == map.items.end() ? nullptr : &*found;
}

/// Whether `later` is merged into `base` key by key, as the decoder does; another plug-in starts from its defaults.
bool is_merged(const Part& base, const Part& later) {
  if (base.kind != ConfigNode::Kind::map || later.kind != ConfigNode::Kind::map) return false;
  const Part *before = find(base, "type"), *type = find(later, "type");
  return !before || !type || before->text == type->text;
}

void merge(Part& base, Part later) {
  std::vector<std::string>& above = base.comments.above;
  above.insert(above.end(), later.comments.above.begin(), later.comments.above.end());
  if (!is_merged(base, later)) {
    later.comments.above = std::move(above);
    base = std::move(later);
    return;
  }
  if (!later.comments.beside.empty()) base.comments.beside = later.comments.beside;
  for (Part& item : later.items) {
    if (const Part* same = find(base, item.key))
      merge(base.items[static_cast<size_t>(same - base.items.data())], std::move(item));
    else
      base.items.push_back(std::move(item));
  }
}

bool has_comments(const Part& part) {
  return std::any_of(part.items.begin(), part.items.end(),
                     [](const Part& item) { return !item.comments.empty() || has_comments(item); });
}

/// The value on one line.
std::string inline_text(const Part& part) {
  if (part.kind == ConfigNode::Kind::null) return "null";
  if (part.kind == ConfigNode::Kind::scalar) return part.text;
  std::vector<std::string> texts;
  for (const Part& item : part.items) texts.push_back((item.key.empty() ? "" : item.key + ": ") + inline_text(item));
  return part.kind == ConfigNode::Kind::list ? "[" + join(texts, ", ") + "]" : "{" + join(texts, ", ") + "}";
}

/// The lines of a value, below its key or behind the dash of its list entry.
std::vector<std::string> lines_of(const Part& part, size_t indent) {
  std::vector<std::string> lines;
  for (const Part& item : part.items) {
    lines.insert(lines.end(), item.comments.above.begin(), item.comments.above.end());
    const std::string beside = item.comments.beside.empty() ? "" : "  " + item.comments.beside;
    const bool one_key = item.key.empty() && item.kind == ConfigNode::Kind::map && item.items.size() == 1;
    const Part& last = one_key ? item.items[0] : item;  // - one_shot: {...} needs no braces around it
    const std::string head = std::string(item.key.empty() ? "- " : "") + (last.key.empty() ? "" : last.key + ": ");
    const std::string line = head + inline_text(last);
    if (item.items.empty() || (!has_comments(item) && indent + line.size() + beside.size() <= kWidth)) {
      lines.push_back(line + beside);
      continue;
    }
    std::vector<std::string> inner = lines_of(item, indent + 2);
    for (std::string& text : inner) text.insert(0, "  ");
    if (item.key.empty())
      inner[0][0] = '-';
    else
      lines.push_back(item.key + ":" + beside);
    lines.insert(lines.end(), inner.begin(), inner.end());
  }
  return lines;
}

}  // namespace

std::string flat_yaml(const ConfigLayers& layers, const std::vector<std::string>& order) {
  Part root;
  root.kind = ConfigNode::Kind::map;
  std::vector<std::string> header;
  for (const ConfigLayer& layer : layers.layers) {
    PartBuilder builder(layer.from.text);
    Part part = builder.build(layer.node);
    header = builder.header();  // of the last layer, which is the file itself
    if (&layer != &layers.layers.back() && !part.items.empty()) {
      std::vector<std::string>& above = part.items[0].comments.above;
      above.insert(above.begin(), header.begin(), header.end());
    }
    merge(root, std::move(part));
  }
  const auto rank = [&](const Part& part) { return std::find(order.begin(), order.end(), part.key) - order.begin(); };
  std::stable_sort(root.items.begin(), root.items.end(),
                   [&](const Part& a, const Part& b) { return rank(a) < rank(b); });
  std::string text = join(header, "\n") + "\n";
  for (const Part& part : root.items) {
    Part section;
    section.kind = ConfigNode::Kind::map;
    section.items = {part};
    const std::vector<std::string> lines = lines_of(section, 0);
    if (lines.size() > 1) text += "\n";  // sections stand apart
    text += join(lines, "\n") + "\n";
  }
  return text;
}

}  // namespace headprune
