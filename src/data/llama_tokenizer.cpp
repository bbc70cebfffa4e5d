#include "data/llama_tokenizer.h"

#include <algorithm>

#include "core/error.h"
#include "core/log.h"
#include "data/tokenizer_readers.h"

namespace headprune {

namespace {

using Prefix = PieceOptions::Prefix;

constexpr const char* kModel = "tokenizer.model";

/// As the library writes the parts of the two forms.
const Json& replace_spaces() {
  static const Json json = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}};
  return json;
}
const Json& prepend_space() {
  static const Json json = {{"type", "Prepend"}, {"prepend", "\u2581"}};
  return json;
}

constexpr const char* kForms =
    "supported with byte_fallback: a normalizer Sequence of Prepend \"\u2581\" and Replace \" \" by \"\u2581\" (or of "
    "Replace alone) without pre_tokenizer, or a pre_tokenizer Metaspace with \"\u2581\" and \"split\": false without "
    "normalizer";

PieceOptions read_metaspace(const JsonPlace& splitter) {
  PieceOptions options{.prefix = Prefix::none, .as_normalizer = false, .once = true};
  const std::string scheme = splitter.text("prepend_scheme", "always");
  const Json known = {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", scheme}, {"split", false}};
  if (splitter.json() != known) splitter.bad(fmt::format("{} is not supported; {}", splitter.json().dump(), kForms));
  if (scheme == "first")
    options.prefix = Prefix::text;
  else if (scheme == "always")
    options.prefix = Prefix::stretch;
  else if (scheme != "never")
    splitter.bad(fmt::format("\"prepend_scheme\": \"{}\" is none of first, always, never", scheme));
  return options;
}

/// What transformers makes of a tokenizer.model where `prefix` says whether a text gets a space first.
PieceOptions converted_form(bool legacy, bool prefix) {
  if (legacy) return {.prefix = prefix ? Prefix::stretch : Prefix::none, .as_normalizer = true, .once = false};
  return {.prefix = prefix ? Prefix::text : Prefix::none, .as_normalizer = false, .once = true};
}

/// A flag for which null means no.
bool python_flag(const JsonPlace& config, const char* key, bool absent) {
  if (!config.object().contains(key)) return absent;
  return config.flag(key, false);
}

bool legacy_of(const JsonPlace& config) { return config.flag("legacy", true); }

/// The model without the space that it puts first: fields of protobuf that stand again, later, count.
std::string without_prefix(std::string model) {
  constexpr char kNoDummyPrefix[] = {0x1A, 0x02, 0x18, 0x00};  // normalizer_spec {add_dummy_prefix: false}
  return model.append(kNoDummyPrefix, sizeof kNoDummyPrefix);
}

TokenTable table_of(const SentencePieces& pieces) {
  std::vector<std::pair<std::string, int64_t>> entries;
  for (int64_t id = 0; id < pieces.size(); ++id) entries.emplace_back(pieces.piece(id), id);
  return {std::move(entries), pieces.where()};
}

/// Models that SentencePiece and transformers read differently: neither is taken for the other.
void refuse_other_rules(const SentencePieces& whole, const SentencePieces& bare, bool prefix) {
  const auto bad = [&](const std::string& what) { fail(ExitCode::run_failed, "{}: {}", whole.where(), what); };
  if (bare.encode(" ").empty())
    bad("the model removes extra spaces, which transformers keeps; a tokenizer.json beside it would say which holds");
  const bool adds = whole.encode("a") != bare.encode("a");
  if (adds && whole.encode("a") != bare.encode("\u2581a"))
    bad("the model puts spaces behind words; it is not supported");
  if (!adds && prefix)
    bad("the model puts no space first, where LlamaTokenizer does; set \"add_prefix_space\": false in "
        "tokenizer_config.json");
  if (const auto piece = whole.user_defined())
    bad(
        fmt::format("the piece \"{}\" is a user-defined one, which SentencePiece and transformers find in different "
                    "ways; a tokenizer.json beside it would say which holds",
                    *piece));
}

}  // namespace

PieceOptions read_piece_form(const JsonPlace& root) {
  const bool splits = root.has("pre_tokenizer"), normalizes = root.has("normalizer");
  if (splits == normalizes)
    root.bad(fmt::format("{} \"normalizer\" and \"pre_tokenizer\" is not supported; {}", splits ? "both" : "neither",
                         kForms));
  if (splits) return read_metaspace(root.at("pre_tokenizer"));
  const JsonPlace normalizer = root.at("normalizer");
  for (const bool prefix : {true, false}) {
    Json list = Json::array();
    if (prefix) list.push_back(prepend_space());
    list.push_back(replace_spaces());
    if (normalizer.json() == Json{{"type", "Sequence"}, {"normalizers", list}}) return converted_form(true, prefix);
  }
  normalizer.bad(fmt::format("{} is not supported; {}", normalizer.json().dump(), kForms));
}

void set_llama_forms(SpecialTokens& specials, TokenizerParts& parts) {
  const JsonPlace& config = specials.config();
  const auto token = [&](const char* flag, bool absent, const char* role, const char* usual) {
    std::vector<int64_t> ids;
    const std::optional<AddedToken> named = specials.role(role, {.content = usual});
    if (!python_flag(config, flag, absent)) return ids;
    if (!named) config.bad(fmt::format("\"{}\" is true, but \"{}\" is null", flag, role));
    const auto added = std::find_if(parts.added.begin(), parts.added.end(),
                                    [&](const AddedToken& one) { return one.content == named->content; });
    ids.push_back(added != parts.added.end()
                      ? added->id
                      : parts.table.need(named->content, fmt::format("the special token {}", role)));
    return ids;
  };
  const std::vector<int64_t> bos = token("add_bos_token", true, "bos_token", "<s>");
  const std::vector<int64_t> eos = token("add_eos_token", false, "eos_token", "</s>");
  parts.single = {.before = bos, .between = {}, .after = eos};
  parts.pair = {.before = bos, .between = eos, .after = eos, .second_type = true, .typed_between = bos.size()};
  parts.pair.between.insert(parts.pair.between.end(), bos.begin(), bos.end());
}

void need_same_model(const JsonPlace& config, const TokenizerParts& parts, const std::optional<PieceOptions>& form) {
  if (config.object().contains("tokenizer_file") && config.object()["tokenizer_file"].is_null())
    config.bad(
        "\"tokenizer_file\" is null, for which LlamaTokenizer passes over tokenizer.json; remove the key, or "
        "tokenizer.json");
  if (!config.has("add_prefix_space")) return;
  const JsonPlace key = config.at("add_prefix_space");
  if (!parts.files.has(kModel))
    key.bad(
        "for this key LlamaTokenizer passes over tokenizer.json for a tokenizer.model, which is not there; remove the "
        "key");
  if (!form || *form != converted_form(legacy_of(config), key.flag()))
    key.bad(
        fmt::format("for this key LlamaTokenizer passes over tokenizer.json for {}, and that puts spaces first in "
                    "another way (\"add_prefix_space\": {}, \"legacy\": {}); make them agree, or remove the key",
                    kModel, key.flag(), legacy_of(config)));
  const SentencePieces pieces(parts.files.bytes(kModel), parts.files.path(kModel));
  bool same = pieces.size() == parts.table.size();
  for (int64_t id = 0; same && id < pieces.size(); ++id) same = pieces.piece(id) == parts.table.token(id);
  if (!same)
    key.bad(
        fmt::format("for this key LlamaTokenizer passes over tokenizer.json for {}, which has other pieces; make them "
                    "agree, or remove the key",
                    kModel));
}

std::shared_ptr<const Tokenizer> read_tokenizer_model(TokenizerFiles files) {
  SpecialTokens specials(files);
  const JsonPlace& config = specials.config();
  const NamedClass& named = specials.named();
  if (named.name != "LlamaTokenizer")
    fail(ExitCode::run_failed, "{}: {}; supported with {} alone: LlamaTokenizer (tokenizer_class in {})",
         files.folder().string(),
         named.where.empty()
             ? fmt::format("no file says whose {} this is", kModel)
             : fmt::format("{} is \"{}\"", named.where, named.name.empty() ? named.model_type : named.name),
         kModel, files.path("tokenizer_config.json"));
  specials.refuse_other_files({"vocab_file", "tokenizer_file"});
  if (config.has("sp_model_kwargs") && !config.at("sp_model_kwargs").object().empty())
    config.bad("\"sp_model_kwargs\" is not supported; leave it out");
  if (config.object().contains("add_prefix_space") && config.object()["add_prefix_space"].is_null())
    log_warn(
        "[data] {}: \"add_prefix_space\" is null; a text gets a space first, as SentencePiece does it, where "
        "transformers 4.57 leaves it out",
        config.where());
  const bool prefix = config.flag("add_prefix_space", true);
  if (prefix && !legacy_of(config))
    log_warn(
        "[data] {}: \"legacy\" is false; a text that begins with a space gets another one, as SentencePiece does it, "
        "where transformers 4.57 adds none",
        config.where());

  const std::string where = files.path(kModel);
  const SentencePieces whole(files.bytes(kModel), where);
  SentencePieces bare(without_prefix(files.bytes(kModel)), where);
  refuse_other_rules(whole, bare, prefix);
  TokenizerParts parts{.files = std::move(files),
                       .where = where,
                       .table = table_of(whole),
                       .added = {},
                       .implied = {},
                       .single = {},
                       .pair = {}};
  for (const auto& [role, usual] : {std::pair("bos_token", "<s>"), std::pair("eos_token", "</s>"),
                                    std::pair("unk_token", "<unk>"), std::pair("pad_token", "")})
    specials.role(role, {.content = usual});
  for (const char* role : {"sep_token", "cls_token", "mask_token"}) specials.role(role, {});
  specials.add_to(parts);
  for (int64_t id = 0; id < whole.size(); ++id)
    if (whole.control(id) &&
        std::none_of(parts.added.begin(), parts.added.end(), [&](const AddedToken& token) { return token.id == id; }))
      parts.added.push_back({.content = whole.piece(id),
                             .id = id,
                             .special = true,
                             .passed_over = config.flag("split_special_tokens", false)});
  set_llama_forms(specials, parts);
  specials.finish_forms(parts, /*token_types=*/false, "right");
  PieceOptions options = converted_form(legacy_of(config), prefix);
  options.once = false;  // SentencePiece gives a text that begins with a space another one
  const int64_t unknown = whole.spells_bytes() ? -1 : whole.unknown();
  return std::make_shared<const PieceTokenizer>(std::move(parts), sentence_piece_encoder(std::move(bare)), options,
                                                unknown);
}

}  // namespace headprune
