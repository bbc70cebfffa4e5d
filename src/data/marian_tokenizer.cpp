// MarianTokenizer of transformers 4.57 without sacremoses, as that library itself then does: texts are not cleaned.
#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "data/special_tokens.h"
#include "data/tokenizer_readers.h"
#include "data/translation_tokenizer.h"

namespace headprune {

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// clean_up_tokenization of transformers: spaces before punctuation and English endings.
void clean_up(std::string& text) {
  for (const auto& [from, to] : {std::pair(" .", "."), std::pair(" ?", "?"), std::pair(" !", "!"), std::pair(" ,", ","),
                                 std::pair(" ' ", "'"), std::pair(" n't", "n't"), std::pair(" 'm", "'m"),
                                 std::pair(" 's", "'s"), std::pair(" 've", "'ve"), std::pair(" 're", "'re")})
    replace_all(text, from, to);
}

struct MarianParts {
  TokenizerFiles files;
  SentencePieces source, target;
  TokenTable table;
  std::vector<AddedToken> added;  // special ones, all in the table
  int64_t unknown = 0, end = 0, start = 0;
  bool clean_up = false;
};

class MarianTokenizer final : public TranslationTokenizer {
 public:
  explicit MarianTokenizer(MarianParts parts)
      : TranslationTokenizer(std::move(parts.files)),
        source_(std::move(parts.source)),
        target_(std::move(parts.target)),
        table_(std::move(parts.table)),
        unknown_(parts.unknown),
        end_(parts.end),
        start_(parts.start),
        clean_up_(parts.clean_up) {
    std::vector<std::string> contents;
    for (const AddedToken& token : parts.added) {
      contents.push_back(token.content);
      special_.push_back(token.id);
    }
    added_ = AddedTokens(std::move(parts.added), std::move(contents));
  }

  int64_t size() const override { return table_.size(); }
  const std::string& token(int64_t id) const override { return table_.token(id); }
  std::vector<int64_t> encode(std::string_view text) const override { return encode_with(source_, text); }
  int64_t unknown() const override { return unknown_; }
  SequenceForm form(size_t) const override {
    return {.before = {}, .between = {}, .after = {end_}, .second_type = false};
  }

  int64_t target_size() const override { return table_.size(); }
  const std::string& target_token(int64_t id) const override { return table_.token(id); }
  bool joint() const override { return true; }
  std::vector<int64_t> encode_target(std::string_view text) const override { return encode_with(target_, text); }
  std::string decode_target(const std::vector<int64_t>& ids) const override {
    std::vector<std::string> pieces;
    for (const int64_t id : ids)
      if (std::find(special_.begin(), special_.end(), id) == special_.end()) pieces.push_back(table_.token(id));
    std::string text = target_.decode_pieces(pieces);
    replace_all(text, "\u2581", " ");  // of pieces that the target side lacks
    text = std::string(trim(text));
    if (clean_up_) headprune::clean_up(text);
    return text;
  }
  int64_t target_unknown() const override { return unknown_; }
  int64_t start() const override { return start_; }
  int64_t end() const override { return end_; }

 private:
  std::vector<int64_t> encode_with(const SentencePieces& side, std::string_view text) const {
    std::vector<int64_t> ids;
    const auto add = [&](std::string_view piece) {
      const int64_t id = table_.id(piece);
      ids.push_back(id < 0 ? unknown_ : id);
    };
    added_.split(
        text,
        [&](std::string_view stretch) {
          // The code of the language to translate into, ">>de<<", is one token.
          const size_t code = stretch.starts_with(">>") ? stretch.find("<<") : std::string_view::npos;
          if (code != std::string_view::npos) {
            add(stretch.substr(0, code + 2));
            stretch.remove_prefix(code + 2);
          }
          for (const std::string& piece : side.encode_pieces(stretch)) add(piece);
        },
        [&](int64_t id) { ids.push_back(id); });
    return ids;
  }

  SentencePieces source_, target_;
  TokenTable table_;
  AddedTokens added_;
  std::vector<int64_t> special_;
  int64_t unknown_, end_, start_;
  bool clean_up_;
};

}  // namespace

std::shared_ptr<const TranslationTokenizer> read_marian(TokenizerFiles files) {
  SpecialTokens specials(files);
  const JsonPlace& config = specials.config();
  const NamedClass& named = specials.named();
  if (!named.name.empty() && named.name != "MarianTokenizer")
    fail(ExitCode::run_failed,
         "{}: {} is \"{}\", which with source.spm and target.spm is not supported; supported: MarianTokenizer",
         files.folder().string(), named.where, named.name);
  specials.refuse_other_files({"source_spm", "target_spm", "vocab", "target_vocab_file"});
  if (config.flag("split_special_tokens", false)) config.bad("\"split_special_tokens\": true is not supported");
  if (config.flag("separate_vocabs", false)) config.bad("\"separate_vocabs\": true is not supported");
  if (config.has("sp_model_kwargs") && !config.at("sp_model_kwargs").object().empty())
    config.bad("\"sp_model_kwargs\" is not supported; leave it out");

  TokenTable table = read_vocab_table(files);
  std::vector<AddedToken> roles;
  const auto need = [&](const char* role, const char* usual) {
    std::optional<AddedToken> token = specials.role(role, {.content = usual});
    if (!token) config.bad(fmt::format("\"{}\" is null; Marian's tokenizer needs it", role));
    token->id = table.need(token->content, fmt::format("the special token {}", role));
    roles.push_back(*token);
    return token->id;
  };
  const int64_t unknown = need("unk_token", "<unk>"), end = need("eos_token", "</s>");
  const int64_t start = need("pad_token", "<pad>");  // Marian's decoders start from padding
  TokenizerParts parts{.files = files,
                       .where = files.path("vocab.json"),
                       .table = table,
                       .added = {},
                       .implied = {},
                       .single = {},
                       .pair = {}};
  specials.add_to(parts);
  std::vector<AddedToken> added = std::move(parts.added);
  added.insert(added.end(), parts.implied.begin(), parts.implied.end());
  for (const AddedToken& token : added)
    if (!token.special || table.id(token.content) != token.id)
      fail(ExitCode::run_failed,
           "{}: the added token \"{}\" of id {} is not supported with source.spm and target.spm; only special tokens "
           "that vocab.json lists with the same id",
           files.folder().string(), token.content, token.id);
  for (const AddedToken& role : roles)
    if (std::none_of(added.begin(), added.end(), [&](const AddedToken& token) { return token.id == role.id; }))
      added.push_back(role);
  SentencePieces source(files.bytes(kSourceModel), files.path(kSourceModel));
  SentencePieces target(files.bytes(kTargetModel), files.path(kTargetModel));
  return std::make_shared<const MarianTokenizer>(
      MarianParts{.files = std::move(files),
                  .source = std::move(source),
                  .target = std::move(target),
                  .table = std::move(table),
                  .added = std::move(added),
                  .unknown = unknown,
                  .end = end,
                  .start = start,
                  .clean_up = config.flag("clean_up_tokenization_spaces", false)});
}

}  // namespace headprune
