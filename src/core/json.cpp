#include "core/json.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/text.h"

namespace headprune {
namespace {

/// Deeper input is refused: copying and printing recurse.
constexpr size_t kMaxDepth = 1000;

void require_finite(const Json& json) {
  if (json.is_number_float() && !std::isfinite(json.get<double>())) {
    throw std::logic_error("a non-finite number was about to be written as JSON");
  }
  if (!json.is_structured()) return;
  for (const auto& value : json) require_finite(value);
}

void append_canonical_string(const std::string& raw, std::string& out) {
  // A string that is not UTF-8 has no normal form; its bytes still identify it.
  const std::string text = invalid_utf8(raw) ? raw : nfc(raw);
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

void append_canonical(const Json& json, std::string& out);

void append_canonical_object(const Json& json, std::string& out) {
  std::vector<std::pair<std::string, const Json*>> entries;
  for (const auto& [key, value] : json.items()) entries.emplace_back(invalid_utf8(key) ? key : nfc(key), &value);
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  out += '{';
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i > 0) out += ',';
    append_canonical_string(entries[i].first, out);
    out += ':';
    append_canonical(*entries[i].second, out);
  }
  out += '}';
}

void append_canonical(const Json& json, std::string& out) {
  if (json.is_object()) {
    append_canonical_object(json, out);
  } else if (json.is_array()) {
    out += '[';
    for (size_t i = 0; i < json.size(); ++i) {
      if (i > 0) out += ',';
      append_canonical(json[i], out);
    }
    out += ']';
  } else if (json.is_string()) {
    append_canonical_string(json.get_ref<const std::string&>(), out);
  } else if (json.is_number_float()) {
    out += number_text(json.get<double>());
  } else {
    out += json.dump();
  }
}

/// Bytes of a text, telling how far the parser has read.
class CountingIterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    const CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

/// Builds the value and stops at the first key that an object already has, which nlohmann would overwrite silently.
class StrictBuilder : public nlohmann::json_sax<Json> {
 public:
  Json root;
  bool duplicate = false;
  std::string problem;     // empty when all is well
  size_t problem_end = 0;  // bytes up to and including the problem, where nlohmann says so

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (!levels_.back().keys.insert(name).second) {
      duplicate = true;
      problem = fmt::format("the key \"{}\" appears twice in one object", name);
      return false;
    }
    levels_.back().key = std::move(name);
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
    problem = error.what();
    const size_t tag = problem.find("] ");
    if (tag != std::string::npos) problem.erase(0, tag + 2);
    problem_end = position;
    return false;
  }

 private:
  struct Level {
    Json* value;
    std::string key;
    std::unordered_set<std::string> keys;
  };

  /// Where the next value goes. A parent grows only while it is the innermost level, so outer pointers stay good.
  Json& place(Json value) {
    if (levels_.empty()) return root = std::move(value);
    Json& parent = *levels_.back().value;
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return parent.back();
    }
    // The key is new, so the linear search of ordered_json's operator[] would be wasted.
    auto& entries = parent.get_ref<Json::object_t&>();
    entries.Container::emplace_back(std::move(levels_.back().key), std::move(value));
    return entries.back().second;
  }

  template <class T>
  bool add(T&& value) {
    place(Json(std::forward<T>(value)));
    return true;
  }

  bool open(Json empty) {
    if (levels_.size() == kMaxDepth) {
      problem = fmt::format("nested deeper than {} levels", kMaxDepth);
      return false;
    }
    Json& value = place(std::move(empty));
    levels_.push_back({&value, {}, {}});
    return true;
  }

  bool close() {
    levels_.pop_back();
    return true;
  }

  std::vector<Level> levels_;
};

}  // namespace

std::string number_text(double value) {
  if (!std::isfinite(value)) throw std::logic_error("number_text: not a finite number");
  return Json(value).dump();
}

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string dump_json(const Json& json) {
  require_finite(json);
  return json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

std::string dump_json_file(const Json& json) {
  require_finite(json);
  return json.dump(1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

std::string member_text(const Json& json, const char* key) {
  if (!json.is_object() || !json.contains(key)) return "unknown";
  return json[key].is_string() ? json[key].get<std::string>() : json[key].dump();
}

std::string canonical_json(const Json& json) {
  std::string out;
  append_canonical(json, out);
  return out;
}

Json parse_json(std::string_view text, const std::string& where) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") {
    fail(ExitCode::run_failed, "{}, byte 0: a byte order mark; save the file as UTF-8 without one", where);
  }
  // nlohmann takes a zero byte for the end of the input, and would not see what follows.
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos) {
    fail(ExitCode::run_failed, "{}, byte {}: a zero byte", where, zero);
  }
  StrictBuilder builder;
  const char* reached = text.data();
  const CountingIterator begin(text.data(), &reached), end(text.data() + text.size(), &reached);
  if (!Json::sax_parse(begin, end, &builder)) {
    const size_t read = builder.problem_end > 0 ? builder.problem_end : static_cast<size_t>(reached - text.data());
    const auto sentence = fmt::format("{}, byte {}: {}", where, read > 0 ? read - 1 : 0, builder.problem);
    if (builder.duplicate) throw DuplicateKeyError(sentence);
    throw Error(ExitCode::run_failed, sentence);
  }
  return std::move(builder.root);
}

}  // namespace headprune
