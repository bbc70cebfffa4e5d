#include "data/vocabulary.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace headprune {

namespace {

constexpr const char* kSpecialNames[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]"};
constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  for (size_t at = text.find_first_not_of(kWhiteSpace); at != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kWhiteSpace, at), text.size());
    found.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kWhiteSpace, end);
  }
  return found;
}

std::string byte_name(int byte) { return fmt::format("<0x{:02X}>", byte); }

}  // namespace

std::vector<std::string_view> split_units(TokenUnit unit, std::string_view text) {
  if (unit == TokenUnit::word) return words(text);
  if (unit == TokenUnit::character) return utf8_characters(text);
  std::vector<std::string_view> bytes;
  bytes.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) bytes.push_back(text.substr(i, 1));
  return bytes;
}

void Vocabulary::add(std::string token) {
  if (size() >= kSpecials) ids_.emplace(token, size());
  tokens_.push_back(std::move(token));
}

Vocabulary Vocabulary::build(TokenUnit unit, const std::unordered_map<std::string, int64_t>& counts, int64_t max_size) {
  Vocabulary vocabulary;
  vocabulary.unit_ = unit;
  for (const char* name : kSpecialNames) vocabulary.add(name);
  if (unit == TokenUnit::byte) {
    for (int byte = 0; byte < 256; ++byte) vocabulary.add(byte_name(byte));
    return vocabulary;
  }
  std::vector<std::pair<std::string, int64_t>> order(counts.begin(), counts.end());
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  for (auto& entry : order) {
    if (vocabulary.size() >= max_size) break;
    vocabulary.add(std::move(entry.first));
  }
  return vocabulary;
}

Vocabulary Vocabulary::of(const std::vector<std::string>& tokens) {
  Vocabulary vocabulary;
  for (const char* name : kSpecialNames) vocabulary.add(name);
  for (const std::string& token : tokens) vocabulary.add(token);
  return vocabulary;
}

int64_t Vocabulary::id(std::string_view token) const {
  if (unit_ == TokenUnit::byte)
    return token.size() == 1 ? kSpecials + static_cast<unsigned char>(token.front()) : kUnknown;
  const auto at = ids_.find(std::string(token));
  return at == ids_.end() ? kUnknown : at->second;
}

const std::string& Vocabulary::token(int64_t id) const { return tokens_.at(static_cast<size_t>(id)); }

std::vector<int64_t> Vocabulary::encode(std::string_view text) const {
  const std::vector<std::string_view> units = split_units(unit_, text);
  std::vector<int64_t> ids;
  ids.reserve(units.size());
  for (const std::string_view one : units) ids.push_back(id(one));
  return ids;
}

std::optional<std::vector<TextSpan>> Vocabulary::locate(std::string_view text) const {
  std::vector<TextSpan> spans;
  for (const std::string_view one : split_units(unit_, text)) {
    const auto begin = static_cast<size_t>(one.data() - text.data());
    spans.push_back({begin, begin + one.size()});
  }
  return spans;
}

std::string Vocabulary::decode(const std::vector<int64_t>& ids) const {
  std::string text;
  for (const int64_t id : ids) {
    if (unit_ == TokenUnit::byte && id >= kSpecials)
      text += static_cast<char>(id - kSpecials);
    else
      text += (unit_ == TokenUnit::word && !text.empty() ? " " : "") + token(id);
  }
  return text;
}

SequenceForm Vocabulary::form(size_t texts) const {
  SequenceForm form{.before = {kClassification}, .between = {}, .after = {}};
  if (texts > 1) form.between = {kSeparator};
  return form;
}

void Vocabulary::write(FolderWriter& folder) const { folder.write("vocabulary.json", dump_json_file(to_json())); }

Json Vocabulary::to_json() const { return {{"unit", enum_name(unit_)}, {"tokens", tokens_}}; }

Vocabulary Vocabulary::from_json(const Json& json, const std::string& where) {
  const auto bad = [&where](const std::string& what) {
    fail(ExitCode::run_failed, "{} is not a vocabulary of headprune: {}", where, what);
  };
  if (!json.is_object() || !json.contains("unit") || !json.contains("tokens") || !json["tokens"].is_array())
    bad("expected {\"unit\": ..., \"tokens\": [...]}");
  Vocabulary vocabulary;
  const auto unit = json["unit"].is_string() ? enum_value<TokenUnit>(json["unit"].get<std::string>()) : std::nullopt;
  if (!unit) bad("unit must be word, character or byte");
  vocabulary.unit_ = *unit;
  for (const Json& token : json["tokens"]) {
    if (!token.is_string()) bad("every token must be text");
    vocabulary.add(token.get<std::string>());
  }
  if (vocabulary.size() < kSpecials ||
      !std::equal(std::begin(kSpecialNames), std::end(kSpecialNames), vocabulary.tokens_.begin()))
    bad("the first tokens must be [PAD] [UNK] [CLS] [SEP]");
  if (vocabulary.ids_.size() + kSpecials != vocabulary.tokens_.size()) bad("a token is listed twice");
  if (vocabulary.unit_ == TokenUnit::byte && vocabulary.tokens_ != build(TokenUnit::byte, {}, 0).tokens_)
    bad("a byte vocabulary must list <0x00> to <0xFF>");
  return vocabulary;
}

}  // namespace headprune
