#include "data/added_tokens.h"

#include <algorithm>

#include "data/unicode.h"

namespace headprune {

namespace {

bool begins_with_word_character(std::string_view text) {
  size_t at = 0;
  return !text.empty() && is_word_character(take_code_point(text, at));
}

/// The last character's first byte.
size_t last_character(std::string_view text) {
  size_t at = text.size();
  while (at > 0 && (static_cast<unsigned char>(text[--at]) & 0xC0) == 0x80) {
  }
  return at;
}

bool ends_with_word_character(std::string_view text) {
  return begins_with_word_character(text.substr(last_character(text)));
}

/// Where the white space at the end of `text` begins.
size_t white_space_at_end(std::string_view text) {
  size_t end = text.size();
  while (end > 0) {
    const size_t begin = last_character(text.substr(0, end));
    size_t at = begin;
    if (!is_white_space(take_code_point(text, at))) break;
    end = begin;
  }
  return end;
}

size_t white_space_at_start(std::string_view text) {
  size_t end = 0;
  for (size_t at = 0; at < text.size() && is_white_space(take_code_point(text, at));) end = at;
  return end;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, std::vector<std::string> contents)
    : tokens_(std::move(tokens)), contents_(std::move(contents)) {
  for (size_t i = 0; i < contents_.size(); ++i)
    by_first_byte_[static_cast<unsigned char>(contents_[i].front())].push_back(i);
  // Of equal contents the special token is found, then the one listed first.
  for (std::vector<size_t>& candidates : by_first_byte_)
    std::stable_sort(candidates.begin(), candidates.end(), [this](size_t a, size_t b) {
      if (contents_[a].size() != contents_[b].size()) return contents_[a].size() > contents_[b].size();
      return tokens_[a].special && !tokens_[b].special;
    });
}

bool AddedTokens::find(std::string_view text, size_t from, Match& match) const {
  for (size_t at = from; at < text.size(); ++at)
    for (const size_t i : by_first_byte_[static_cast<unsigned char>(text[at])])
      if (text.substr(at).starts_with(contents_[i])) {
        match = {.token = i, .begin = at, .end = at + contents_[i].size()};
        return true;
      }
  return false;
}

void AddedTokens::split(std::string_view text, const std::function<void(std::string_view)>& on_text,
                        const std::function<void(int64_t)>& on_token) const {
  size_t done = 0;
  Match match{};
  for (size_t from = 0; find(text, from, match); from = match.end) {
    const AddedToken& token = tokens_[match.token];
    size_t begin = match.begin, end = match.end;
    if (token.passed_over) continue;
    if (token.single_word &&
        (ends_with_word_character(text.substr(0, begin)) || begins_with_word_character(text.substr(end))))
      continue;
    // White space that the token before has taken is gone.
    if (token.lstrip) begin = std::max(done, white_space_at_end(text.substr(0, begin)));
    if (token.rstrip) end += white_space_at_start(text.substr(end));
    if (done < begin) on_text(text.substr(done, begin - done));
    on_token(token.id);
    done = end;
  }
  if (done < text.size()) on_text(text.substr(done));
}

}  // namespace headprune
