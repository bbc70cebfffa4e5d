#include "data/model_tokenizer.h"

#include <algorithm>
#include <set>

#include "core/error.h"

namespace headprune {

ModelTokenizer::ModelTokenizer(TokenizerParts parts)
    : files_(std::move(parts.files)),
      where_(std::move(parts.where)),
      table_(std::move(parts.table)),
      added_(std::move(parts.added)),
      implied_(std::move(parts.implied)),
      single_(std::move(parts.single)),
      pair_(std::move(parts.pair)),
      size_(table_.size()) {}

void ModelTokenizer::find_added_tokens() {
  std::stable_sort(added_.begin(), added_.end(), [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  std::set<std::string> seen;
  for (const AddedToken& token : added_) {
    if (token.content.empty()) fail(ExitCode::run_failed, "{}: the added token of id {} is empty", where_, token.id);
    if (!seen.insert(token.content).second)
      fail(ExitCode::run_failed, "{}: the added token \"{}\" is listed twice", where_, token.content);
    const int64_t listed = table_.id(token.content);
    if (listed == token.id) continue;
    if (listed >= 0)
      fail(ExitCode::run_failed, "{}: the added token \"{}\" has id {}, but the vocabulary gives it {}", where_,
           token.content, token.id, listed);
    if (token.id != size_)
      fail(ExitCode::run_failed,
           "{}: the added token \"{}\" has id {}; added tokens that are not in the vocabulary must follow it without "
           "holes, the next id is {}",
           where_, token.content, token.id, size_);
    beyond_.push_back(token.content);
    ++size_;
  }
  for (AddedToken& token : implied_) {
    token.id = table_.size() + std::ssize(beyond_);
    beyond_.push_back(token.content);
    added_.push_back(token);
  }

  std::vector<AddedToken> verbatim, normalized;
  std::vector<std::string> verbatim_contents, normalized_contents;
  for (const AddedToken& token : added_) {
    (token.normalized ? normalized : verbatim).push_back(token);
    (token.normalized ? normalized_contents : verbatim_contents)
        .push_back(token.normalized ? normalize_token(token.content) : token.content);
    if (token.normalized && normalized_contents.back().empty())
      fail(ExitCode::run_failed,
           "{}: normalization leaves nothing of the added token of id {}; set its \"normalized\" "
           "to false",
           where_, token.id);
  }
  verbatim_ = AddedTokens(std::move(verbatim), std::move(verbatim_contents));
  normalized_ = AddedTokens(std::move(normalized), std::move(normalized_contents));
}

const std::string& ModelTokenizer::token(int64_t id) const {
  return id < table_.size() ? table_.token(id) : beyond_.at(static_cast<size_t>(id - table_.size()));
}

std::vector<int64_t> ModelTokenizer::encode(std::string_view text) const {
  std::vector<int64_t> ids;
  const auto on_token = [&ids](int64_t id) { ids.push_back(id); };
  verbatim_.split(
      text,
      [&](std::string_view stretch) {
        normalized_.split(
            normalize(stretch), [&](std::string_view rest) { encode_text(rest, ids.empty(), ids); }, on_token);
      },
      on_token);
  return ids;
}

}  // namespace headprune
