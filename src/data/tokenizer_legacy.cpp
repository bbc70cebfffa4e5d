// Tokenizers of before tokenizer.json: vocab.txt, or vocab.json with merges.txt, read as transformers 4.57 converts
// them.
#include <algorithm>
#include <optional>

#include "core/error.h"
#include "core/text.h"
#include "data/byte_bpe.h"
#include "data/json_place.h"
#include "data/tokenizer_readers.h"
#include "data/wordpiece.h"

namespace headprune {

namespace {

/// tokenizer_config.json and special_tokens_map.json.
class SpecialTokens {
 public:
  explicit SpecialTokens(const TokenizerFiles& files)
      : config_json_(files.object("tokenizer_config.json")),
        map_json_(files.object("special_tokens_map.json")),
        added_json_(files.object("added_tokens.json")),
        config_(config_json_, files.path("tokenizer_config.json")),
        map_(map_json_, files.path("special_tokens_map.json")),
        added_(added_json_, files.path("added_tokens.json")) {}
  SpecialTokens(const SpecialTokens&) = delete;
  SpecialTokens& operator=(const SpecialTokens&) = delete;

  const JsonPlace& config() const { return config_; }

  /// The token of a role ("cls_token"); `usual` where the files do not name it, nothing where that is empty or null.
  std::optional<AddedToken> role(const char* key, const AddedToken& usual) {
    const JsonPlace* place = config_.object().contains(key) ? &config_ : map_.object().contains(key) ? &map_ : nullptr;
    if (place ? !place->has(key) : usual.content.empty()) return std::nullopt;
    AddedToken token = place ? parse(place->at(key), usual) : usual;
    token.special = true;
    roles_.push_back(token);
    return token;
  }

  /// The tokens to be found in text: added_tokens_decoder of tokenizer_config.json, which says all, or else those of
  /// the roles that the vocabulary has, more special ones, and those of added_tokens.json.
  std::vector<AddedToken> added(const TokenTable& table) const {
    std::vector<AddedToken> found;
    const auto add = [&found](const AddedToken& token) {
      const bool known = std::any_of(found.begin(), found.end(),
                                     [&](const AddedToken& other) { return other.content == token.content; });
      if (!known) found.push_back(token);
    };
    if (config_.has("added_tokens_decoder")) {
      const JsonPlace decoder = config_.at("added_tokens_decoder");
      for (const auto& [id, value] : decoder.object().items()) {
        const JsonPlace place = decoder.at(id.c_str());
        AddedToken token = parse(place, {});
        if (id.empty() || id.size() > 9 || id.find_first_not_of("0123456789") != std::string::npos)
          decoder.bad(fmt::format("\"{}\" is not an id", id));
        token.id = std::stoll(id);
        token.special = place.flag("special", false);
        add(token);
      }
      return found;
    }
    std::vector<AddedToken> named = roles_;
    for (const JsonPlace* place : {&config_, &map_}) {
      if (!place->has("additional_special_tokens")) continue;
      const JsonPlace list = place->at("additional_special_tokens");
      for (size_t i = 0; i < list.array().size(); ++i)
        named.push_back(parse(list.at(i), {.content = "", .special = true}));
    }
    for (AddedToken token : named) {
      token.id = table.id(token.content);
      if (token.id < 0 && added_.has(token.content.c_str())) token.id = added_.at(token.content.c_str()).count();
      if (token.id >= 0) add(token);
    }
    for (const auto& [content, id] : added_.object().items())
      add({.content = content, .id = added_.at(content.c_str()).count(), .normalized = true});
    return found;
  }

 private:
  static AddedToken parse(const JsonPlace& place, AddedToken usual) {
    if (place.json().is_string()) {
      // A name alone keeps the usual flags only for the usual token.
      if (usual.content != place.text()) usual.lstrip = usual.rstrip = false;
      usual.content = place.text();
      return usual;
    }
    usual.content = place.at("content").text();
    usual.single_word = place.flag("single_word", false);
    usual.lstrip = place.flag("lstrip", false);
    usual.rstrip = place.flag("rstrip", false);
    usual.normalized = place.flag("normalized", false);
    return usual;
  }

  Json config_json_, map_json_, added_json_;
  JsonPlace config_, map_, added_;
  std::vector<AddedToken> roles_;
};

/// tokenizer_class without "Fast", or nothing.
std::string tokenizer_class(const JsonPlace& config) {
  std::string name = config.text("tokenizer_class", "");
  if (name.ends_with("Fast")) name.resize(name.size() - 4);
  return name == "PreTrainedTokenizer" ? "" : name;
}

TokenTable read_lines(const TokenizerFiles& files) {
  std::vector<std::pair<std::string, int64_t>> entries;
  for (const std::string_view line : files.lines("vocab.txt"))
    entries.emplace_back(line, static_cast<int64_t>(entries.size()));
  return {std::move(entries), files.path("vocab.txt")};
}

TokenTable read_object(const TokenizerFiles& files) {
  const std::string where = files.path("vocab.json");
  const Json json = files.object("vocab.json");
  std::vector<std::pair<std::string, int64_t>> entries;
  for (const auto& [token, id] : json.items())
    entries.emplace_back(token, JsonPlace(id, where, fmt::format("[\"{}\"]", token)).count());
  return {std::move(entries), where};
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
std::string bpe_class(const TokenizerFiles& files, const JsonPlace& config) {
  std::string name = tokenizer_class(config), from = "tokenizer_class in " + files.path("tokenizer_config.json");
  if (name.empty() && fs::exists(files.folder() / "config.json")) {
    const std::string path = files.path("config.json");
    const Json json = parse_json(read_file(path), path);
    name = JsonPlace(json, path).text("model_type", "");
    from = "model_type in " + path;
    if (name == "gpt2") return "GPT2Tokenizer";
    if (name == "roberta") return "RobertaTokenizer";
  }
  if (name == "GPT2Tokenizer" || name == "RobertaTokenizer") return name;
  if (name.empty())
    fail(ExitCode::run_failed,
         "{}: vocab.json and merges.txt do not say whose they are; add a tokenizer_config.json with tokenizer_class "
         "GPT2Tokenizer or RobertaTokenizer",
         files.folder().string());
  fail(ExitCode::run_failed,
       "{}: {} is \"{}\", whose vocab.json and merges.txt are not supported; supported: GPT2Tokenizer, "
       "RobertaTokenizer, or a tokenizer.json",
       files.folder().string(), from, name);
}

}  // namespace

std::shared_ptr<const Tokenizer> read_vocab_txt(TokenizerFiles files) {
  SpecialTokens specials(files);
  const JsonPlace& config = specials.config();
  const std::string name = tokenizer_class(config);
  const std::vector<std::string> supported = {"", "BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer",
                                              "MobileBertTokenizer"};
  if (std::find(supported.begin(), supported.end(), name) == supported.end())
    config.bad(
        fmt::format("tokenizer_class \"{}\" with a vocab.txt is not supported; supported: BertTokenizer, "
                    "DistilBertTokenizer, ElectraTokenizer, MobileBertTokenizer, or a tokenizer.json",
                    name));
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

  WordPieceOptions options;
  options.unknown = table.token(unknown);
  options.rules.lowercase = config.flag("do_lower_case", true);
  options.rules.strip_accents = config.flag("strip_accents", options.rules.lowercase);
  options.rules.space_chinese = config.flag("tokenize_chinese_chars", true);
  std::vector<AddedToken> added = specials.added(table);
  TokenizerParts parts{.files = std::move(files),
                       .where = where,
                       .table = std::move(table),
                       .added = std::move(added),
                       .single = {.before = {cls}, .between = {}, .after = {sep}},
                       .pair = {.before = {cls}, .between = {sep}, .after = {sep}, .second_type = true}};
  return std::make_shared<const WordPiece>(std::move(parts), std::move(options));
}

std::shared_ptr<const Tokenizer> read_vocab_json(TokenizerFiles files) {
  SpecialTokens specials(files);
  const JsonPlace& config = specials.config();
  const bool roberta = bpe_class(files, config) == "RobertaTokenizer";
  TokenTable table = read_object(files);
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
    pair.second_type = true;  // as tokenizer.json without a processor; GPT-2 has no token types
  }
  std::vector<AddedToken> added = specials.added(table);
  TokenizerParts parts{.files = std::move(files),
                       .where = where,
                       .table = std::move(table),
                       .added = std::move(added),
                       .single = std::move(single),
                       .pair = std::move(pair)};
  return std::make_shared<const ByteBpe>(std::move(parts), merges, config.flag("add_prefix_space", false));
}

}  // namespace headprune
