#include "config/overrides.h"

#include <algorithm>

#include "config/load.h"
#include "core/text.h"

namespace headprune {

namespace {

/// What is wrong, and at which byte of the argument.
struct Malformed {
  size_t offset;
  std::string message;
};

bool is_index(const std::string& word) {
  return !word.empty() && word.size() < 10 && word.find_first_not_of("0123456789") == std::string::npos;
}

bool is_key_path(std::string_view key) {
  bool first = true;
  for (const std::string_view part : split(key, '.')) {
    const std::string word(part);
    if (!is_key(word) && (first || !is_index(word))) return false;
    first = false;
  }
  return true;
}

/// The forms of other tools, each answered with ours; "" when it is none of them.
std::string foreign_form(const std::string& argument) {
  const size_t equals = argument.find('=');
  const std::string value = equals == std::string::npos ? "VALUE" : argument.substr(equals + 1);
  if (argument.starts_with("+")) {
    const std::string key =
        argument.substr(argument.starts_with("++") ? 2 : 1,
                        equals == std::string::npos ? equals : equals - (argument.starts_with("++") ? 2 : 1));
    return fmt::format("'+' is not needed, every key exists; write {}={}", key, value);
  }
  if (argument.starts_with("~"))
    return fmt::format("keys cannot be deleted; an optional one is emptied with {}=null",
                       argument.substr(1, equals == std::string::npos ? equals : equals - 1));
  if (argument.starts_with("-"))
    return fmt::format(
        "'{}' is not an override; write key=value, and for several values a list in the file or "
        "seeds=[1,2,3]",
        argument.substr(0, equals));
  if (equals == std::string::npos) return fmt::format("expected key=value, got '{}'", argument);
  for (const char* call : {"range(", "choice("})
    if (value.starts_with(call))
      return fmt::format("{}...) is not supported, sweeps stand in the file; write the values as a list: {}=[1,2,3]",
                         call, argument.substr(0, equals));
  return "";
}

class ValueParser {
 public:
  ValueParser(const std::string& text, size_t start, const std::shared_ptr<const Source>& source, Environment& env)
      : text_(text), at_(start), source_(source), environment_(env) {}

  /// The value that runs to the end of the argument. Throws Malformed.
  ConfigNode parse() {
    if (at_ == text_.size()) return scalar(at_, "", /*quoted=*/true);
    if (!opens_value(text_[at_])) return bare(at_, text_.substr(at_));
    ConfigNode value = bracketed();
    skip_spaces();
    if (at_ < text_.size()) throw Malformed{at_, fmt::format("unexpected '{}' after the value", text_.substr(at_))};
    return value;
  }

 private:
  static bool opens_value(char c) { return c == '\'' || c == '"' || c == '[' || c == '{'; }
  void skip_spaces() { at_ = std::min(text_.find_first_not_of(' ', at_), text_.size()); }
  bool take(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  ConfigNode empty(size_t offset) const {
    ConfigNode node;
    node.at = {source_, 0, static_cast<int>(offset) + 1};
    return node;
  }
  ConfigNode scalar(size_t offset, std::string text, bool quoted) {
    ConfigNode node = empty(offset);
    node.kind = ConfigNode::Kind::scalar;
    if (std::string why = environment_.expand(text); !why.empty()) throw Malformed{offset, why};
    node.text = std::move(text);
    node.quoted = quoted;
    node.expanded = true;
    return node;
  }
  ConfigNode bare(size_t offset, const std::string& text) {
    return text == "null" || text == "~" ? empty(offset) : scalar(offset, text, /*quoted=*/false);
  }
  ConfigNode bracketed() {
    if (++depth_ > kMaxConfigDepth) throw Malformed{at_, "nested deeper than 64 levels"};
    ConfigNode node = text_[at_] == '[' ? list() : text_[at_] == '{' ? map() : quoted();
    --depth_;
    return node;
  }
  ConfigNode quoted() {
    const size_t start = at_;
    const char quote = text_[at_++];
    std::string out;
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] != '\\') {
        out += text_[at_];
        continue;
      }
      if (++at_ == text_.size()) break;
      const char c = text_[at_];
      if (c != 'n' && c != 't' && c != '\\' && c != '\'' && c != '"')
        throw Malformed{at_ - 1, fmt::format("unknown escape '\\{}'; known are \\n \\t \\\\ \\' \\\"", c)};
      out += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
    if (at_ >= text_.size()) throw Malformed{start, "the quotation mark is not closed"};
    ++at_;
    return scalar(start, out, /*quoted=*/true);
  }
  /// Inside brackets: up to , ] or }, where ${...} counts as one piece.
  ConfigNode inner() {
    skip_spaces();
    if (at_ < text_.size() && opens_value(text_[at_])) return bracketed();
    const size_t start = at_;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ']' && text_[at_] != '}') {
      const size_t close = text_.compare(at_, 2, "${") == 0 ? text_.find('}', at_) : std::string::npos;
      at_ = close == std::string::npos ? at_ + 1 : close + 1;
    }
    return bare(start, std::string(trim(std::string_view(text_).substr(start, at_ - start))));
  }
  ConfigNode list() {
    const size_t start = at_++;
    ConfigNode node = empty(start);
    node.kind = ConfigNode::Kind::list;
    if (take(']')) return node;
    do node.items.push_back(inner());
    while (take(','));
    if (!take(']')) throw Malformed{start, "'[' is not closed"};
    return node;
  }
  ConfigNode map() {
    const size_t start = at_++;
    ConfigNode node = empty(start);
    node.kind = ConfigNode::Kind::map;
    if (take('}')) return node;
    do {
      skip_spaces();
      const size_t key_start = at_;
      at_ = std::min(text_.find_first_of(":,}", at_), text_.size());
      const std::string key(trim(std::string_view(text_).substr(key_start, at_ - key_start)));
      if (!is_key(key)) throw Malformed{key_start, "inside { } entries are written key: value"};
      if (node.find(key)) throw Malformed{key_start, fmt::format("duplicate key '{}'", key)};
      if (!take(':')) throw Malformed{key_start, fmt::format("a ':' is missing after '{}'", key)};
      node.keys.push_back(key);
      node.key_places.push_back({source_, 0, static_cast<int>(key_start) + 1});
      node.items.push_back(inner());
    } while (take(','));
    if (!take('}')) throw Malformed{start, "'{' is not closed"};
    return node;
  }

  const std::string& text_;
  size_t at_, depth_ = 0;
  const std::shared_ptr<const Source>& source_;
  Environment& environment_;
};

}  // namespace

bool looks_like_override(const std::string& argument) {
  for (const char* form : {"-m", "--multirun", "--set"})
    if (argument == form) return true;
  if (argument.starts_with("+") || argument.starts_with("~")) return true;
  const size_t equals = argument.find('=');
  return equals != std::string::npos && (is_key_path(argument.substr(0, equals)) || argument.starts_with("--set="));
}

std::optional<ConfigNode> parse_override(const std::string& argument, const std::shared_ptr<const Source>& source,
                                         Environment& environment, Problems& problems) {
  const auto place = [&](size_t offset) { return Place{source, 0, static_cast<int>(offset) + 1}; };
  if (const std::optional<size_t> bad = invalid_utf8(argument)) {
    problems.add(place(*bad), "", "invalid UTF-8");
    return std::nullopt;
  }
  if (const std::string foreign = foreign_form(argument); !foreign.empty()) {
    problems.add(place(0), "", foreign);
    return std::nullopt;
  }
  const size_t equals = argument.find('=');
  const std::string key = argument.substr(0, equals);
  if (!is_key_path(key)) {
    problems.add(place(0), "",
                 fmt::format("'{}' is not a key; write section.key=value, and entries of lists as "
                             "list.0.key=value",
                             key));
    return std::nullopt;
  }
  try {
    ConfigNode node = ValueParser(argument, equals + 1, source, environment).parse();
    const std::vector<std::string_view> parts = split(key, '.');
    size_t start = equals;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      start -= part->size();
      ConfigNode step;
      step.kind = ConfigNode::Kind::step;
      step.at = place(start);
      step.keys.emplace_back(*part);
      step.key_places.push_back(step.at);
      if (node.kind == ConfigNode::Kind::step) node.at = step.at;  // a section stands at its own key
      step.items.push_back(std::move(node));
      node = std::move(step);
      if (start > 0) --start;  // the dot
    }
    return node;
  } catch (const Malformed& malformed) {
    problems.add(place(malformed.offset), key, malformed.message);
    return std::nullopt;
  }
}

}  // namespace headprune
