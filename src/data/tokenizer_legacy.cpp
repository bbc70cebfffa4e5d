// Tokenizers of before tokenizer.json: vocab.txt, or vocab.json with merges.txt, read as transformers 4.57 converts
// them.
#include <algorithm>
#include <optional>

#include "core/error.h"
#include "core/text.h"
#include "data/byte_bpe.h"
#include "data/special_tokens.h"
#include "data/tokenizer_readers.h"
#include "data/wordpiece.h"

namespace headprune {

namespace {

TokenTable read_lines(const TokenizerFiles& files) {
  std::vector<std::pair<std::string, int64_t>> entries;
  for (const std::string_view line : files.lines("vocab.txt"))
    entries.emplace_back(line, static_cast<int64_t>(entries.size()));
  return {std::move(entries), files.path("vocab.txt")};
}

Merges read_merge_lines(const TokenizerFiles& files) {
  Merges merges;
  int64_t number = 0;
  for (const std::string_view line : files.lines("merges.txt")) {
    if (++number == 1 && line.starts_with("#version")) continue;
    const std::vector<std::string_view> both = split(line, ' ');
    if (both.size() != 2 || both[0].empty() || both[1].empty())
      fail(ExitCode::run_failed, "{}:{}: expected two tokens with a space between them; get the file again",
           files.path("merges.txt"), number);
    merges.emplace_back(both[0], both[1]);
  }
  return merges;
}

/// "GPT2Tokenizer" or "RobertaTokenizer".
std::string bpe_class(const TokenizerFiles& files, const NamedClass& named) {
  if (named.name == "GPT2Tokenizer" || named.name == "RobertaTokenizer") return named.name;
  if (named.where.empty())
    fail(ExitCode::run_failed,
         "{}: vocab.json and merges.txt do not say whose they are; add a tokenizer_config.json with tokenizer_class "
         "GPT2Tokenizer or RobertaTokenizer",
         files.folder().string());
  fail(ExitCode::run_failed,
       "{}: {} is \"{}\", whose vocab.json and merges.txt are not supported; supported: GPT2Tokenizer, "
       "RobertaTokenizer, or a tokenizer.json",
       files.folder().string(), named.where, named.name.empty() ? named.model_type : named.name);
}

}  // namespace

std::shared_ptr<const Tokenizer> read_vocab_txt(TokenizerFiles files) {
  SpecialTokens specials(files);
  const JsonPlace& config = specials.config();
  // Where nothing says whose a vocab.txt is, it is BERT's.
  const std::string name = specials.named().name.empty() ? "BertTokenizer" : specials.named().name;
  const std::optional<TokenizerClass> rules = find_tokenizer_class(name);
  if (!rules || !rules->bert_rules)
    fail(ExitCode::run_failed,
         "{}: {} is \"{}\", which with a vocab.txt is not supported; supported: BertTokenizer, DistilBertTokenizer, "
         "ElectraTokenizer, MobileBertTokenizer, or a tokenizer.json",
         files.folder().string(), specials.named().where, name);
  specials.refuse_other_files({"vocab_file"});
  if (!config.flag("do_basic_tokenize", true)) config.bad("\"do_basic_tokenize\": false is not supported");

  const std::string where = files.path("vocab.txt");
  TokenTable table = read_lines(files);
  const auto need = [&](const char* role, const char* usual) {
    const std::optional<AddedToken> token = specials.role(role, {.content = usual});
    if (!token) config.bad(fmt::format("\"{}\" is null; a WordPiece tokenizer needs it", role));
    return table.need(token->content, fmt::format("the special token {}", role));
  };
  const int64_t unknown = need("unk_token", "[UNK]"), sep = need("sep_token", "[SEP]");
  const int64_t cls = need("cls_token", "[CLS]");
  specials.role("pad_token", {.content = "[PAD]"});
  specials.role("mask_token", {.content = "[MASK]"});
  for (const char* key : {"bos_token", "eos_token"}) specials.role(key, {});

  WordPieceOptions options;
  options.unknown = table.token(unknown);
  options.rules.lowercase = config.flag("do_lower_case", true);
  options.rules.strip_accents = config.flag("strip_accents", options.rules.lowercase);
  options.rules.space_chinese = config.flag("tokenize_chinese_chars", true);
  options.token_rules = options.rules;
  TokenizerParts parts{.files = std::move(files),
                       .where = where,
                       .table = std::move(table),
                       .added = {},
                       .implied = {},
                       .single = {.before = {cls}, .between = {}, .after = {sep}},
                       .pair = {.before = {cls}, .between = {sep}, .after = {sep}, .second_type = true}};
  specials.add_to(parts);
  specials.finish_forms(parts, rules->token_types, "right");
  return std::make_shared<const WordPiece>(std::move(parts), std::move(options));
}

std::shared_ptr<const Tokenizer> read_vocab_json(TokenizerFiles files) {
  SpecialTokens specials(files);
  const JsonPlace& config = specials.config();
  const bool roberta = bpe_class(files, specials.named()) == "RobertaTokenizer";
  specials.refuse_other_files({"vocab_file", "merges_file"});
  TokenTable table = read_vocab_table(files);
  const Merges merges = read_merge_lines(files);
  const std::string where = files.path("vocab.json");
  const std::string end = roberta ? "</s>" : "<|endoftext|>", start = roberta ? "<s>" : end;
  const auto bos = specials.role("bos_token", {.content = start});
  specials.role("eos_token", {.content = end});
  specials.role("unk_token", {.content = roberta ? "<unk>" : end});
  specials.role("pad_token", {.content = roberta ? "<pad>" : ""});

  SequenceForm single, pair;
  if (roberta) {
    const auto cls = specials.role("cls_token", {.content = "<s>"}),
               sep = specials.role("sep_token", {.content = "</s>"});
    specials.role("mask_token", {.content = "<mask>", .lstrip = true});
    if (!cls || !sep) config.bad("\"cls_token\" or \"sep_token\" is null; RoBERTa's tokenizer needs both");
    const int64_t cls_id = table.need(cls->content, "the special token cls_token");
    const int64_t sep_id = table.need(sep->content, "the special token sep_token");
    single = {.before = {cls_id}, .between = {}, .after = {sep_id}};
    pair = {.before = {cls_id}, .between = {sep_id, sep_id}, .after = {sep_id}};
  } else if (config.flag("add_bos_token", false)) {
    if (!bos) config.bad("\"add_bos_token\" is true, but \"bos_token\" is null");
    single.before = pair.before = {table.need(bos->content, "the special token bos_token")};
    pair.second_type = true;
  } else {
    pair.second_type = true;  // as tokenizer.json without a processor
  }
  if (!roberta)
    for (const char* key : {"sep_token", "cls_token", "mask_token"}) specials.role(key, {});
  TokenizerParts parts{.files = std::move(files),
                       .where = where,
                       .table = std::move(table),
                       .added = {},
                       .implied = {},
                       .single = std::move(single),
                       .pair = std::move(pair)};
  specials.add_to(parts);
  specials.finish_forms(parts, /*token_types=*/false, "right");
  return std::make_shared<const ByteBpe>(std::move(parts), merges,
                                         ByteBpeOptions{.add_prefix_space = config.flag("add_prefix_space", false)});
}

}  // namespace headprune
