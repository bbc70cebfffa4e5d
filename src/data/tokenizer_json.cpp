// tokenizer.json as the `tokenizers` library (0.22) writes it.
#include <algorithm>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "data/byte_bpe.h"
#include "data/json_place.h"
#include "data/llama_tokenizer.h"
#include "data/special_tokens.h"
#include "data/tokenizer_readers.h"
#include "data/wordpiece.h"

namespace headprune {

namespace {

constexpr const char* kSections[] = {"version",       "truncation",     "padding", "added_tokens", "normalizer",
                                     "pre_tokenizer", "post_processor", "decoder", "model"};

/// Refuses members of `place` that are not listed: they could mean anything.
void allow_only(const JsonPlace& place, const std::vector<std::string>& known) {
  for (const auto& [key, value] : place.object().items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      place.bad(fmt::format("\"{}\" is not supported", key));
}

[[noreturn]] void unsupported(const JsonPlace& place, const std::string& found, const std::string& supported) {
  place.bad(fmt::format("\"{}\" is not supported; supported: {}", found, supported));
}

/// Refuses an option that changes ids, where it is set to something else than nothing.
void must_be_off(const JsonPlace& model, const std::vector<const char*>& keys) {
  for (const char* key : keys) {
    if (!model.has(key)) continue;
    const JsonPlace value = model.at(key);
    const bool off =
        value.json() == Json(false) || value.json() == Json("") || value.json() == Json(0) || value.json() == Json(0.0);
    if (!off) value.bad(fmt::format("{} is not supported; only a tokenizer without it is", value.json().dump()));
  }
}

TokenTable read_table(const JsonPlace& model, const std::string& where) {
  const JsonPlace vocabulary = model.at("vocab");
  std::vector<std::pair<std::string, int64_t>> entries;
  for (const auto& [token, id] : vocabulary.object().items())
    entries.emplace_back(token, JsonPlace(id, where, fmt::format("model.vocab[\"{}\"]", token)).count());
  return {std::move(entries), where + ": model.vocab"};
}

/// A token that a post-processor puts into sequences must be the one that the table has at that id.
int64_t special_id(const TokenizerParts& parts, const JsonPlace& place, const std::string& token, int64_t id) {
  const bool listed = parts.table.id(token) == id;
  const bool added = std::any_of(parts.added.begin(), parts.added.end(),
                                 [&](const AddedToken& one) { return one.content == token && one.id == id; });
  if (!listed && !added) place.bad(fmt::format("the vocabulary has no special token \"{}\" of id {}", token, id));
  return id;
}

/// `["[SEP]", 102]`
int64_t special_pair(const TokenizerParts& parts, const JsonPlace& place) {
  if (place.array().size() != 2) place.bad("must be a token and its id");
  return special_id(parts, place, place.at(size_t{0}).text(), place.at(size_t{1}).count());
}

/// One template of a TemplateProcessing with `texts` texts.
SequenceForm read_template(const TokenizerParts& parts, const JsonPlace& processor, size_t texts) {
  const JsonPlace list = processor.at(texts == 1 ? "single" : "pair");
  SequenceForm form;
  std::vector<int64_t>* const specials[] = {&form.before, texts == 1 ? &form.after : &form.between, &form.after};
  std::vector<int64_t> types, text_types;  // of all pieces, of the texts among them
  for (size_t i = 0; i < list.array().size(); ++i) {
    const JsonPlace piece = list.at(i);
    const bool is_text = piece.has("Sequence");
    const JsonPlace body = piece.at(is_text ? "Sequence" : "SpecialToken");
    const std::string& id = body.at("id").text();
    types.push_back(body.at("type_id").count());
    if (is_text) {
      if (text_types.size() == texts || id != (text_types.empty() ? "A" : "B"))
        list.bad("only templates with the first text (and then, in a pair, the second) are supported, once each");
      text_types.push_back(types.back());
      continue;
    }
    const JsonPlace token = processor.at("special_tokens").at(id.c_str());
    const JsonPlace ids = token.at("ids"), names = token.at("tokens");
    if (ids.array().size() != names.array().size()) token.bad("\"ids\" and \"tokens\" must be of one length");
    for (size_t k = 0; k < ids.array().size(); ++k)
      specials[text_types.size()]->push_back(special_id(parts, token, names.at(k).text(), ids.at(k).count()));
    if (texts == 2 && text_types.size() == 1 && types.back() == 1) form.typed_between += ids.array().size();
  }
  if (text_types.size() != texts) list.bad(fmt::format("must have {} text(s)", texts));
  form.second_type = types.back() == 1;
  if (!std::is_sorted(types.begin(), types.end()) || types.back() > 1 || text_types.front() != 0 ||
      text_types.back() != (texts == 2 ? types.back() : 0) || (texts == 1 && types.back() != 0))
    list.bad("only token types of 0, or in a pair of 1 from the second text or a token before it on, are supported");
  return form;
}

/// Sets the forms. True where the processor adds tokens.
bool read_processor(const JsonPlace& processor, TokenizerParts& parts) {
  const std::string& type = processor.at("type").text();
  if (type == "ByteLevel") return false;  // moves offsets only
  if (type == "TemplateProcessing") {
    parts.single = read_template(parts, processor, 1);
    parts.pair = read_template(parts, processor, 2);
    return true;
  }
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    const int64_t cls = special_pair(parts, processor.at("cls")), sep = special_pair(parts, processor.at("sep"));
    const bool bert = type == "BertProcessing";
    parts.single = {.before = {cls}, .between = {}, .after = {sep}};
    parts.pair = {.before = {cls}, .between = {sep}, .after = {sep}, .second_type = bert};
    if (!bert) parts.pair.between.push_back(sep);
    return true;
  }
  if (type != "Sequence")
    unsupported(processor, type,
                "TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel, a Sequence of these");
  const JsonPlace list = processor.at("processors");
  bool added = false;
  for (size_t i = 0; i < list.array().size(); ++i) {
    const bool adds = read_processor(list.at(i), parts);
    if (adds && added) list.bad("two processors that add tokens are not supported");
    added = added || adds;
  }
  return added;
}

/// tokenizer.json and the files beside it.
struct Folder {
  JsonPlace root;
  const SpecialTokens& specials;
  std::optional<TokenizerClass> rules;  // nothing where no file says whose tokenizer it is

  const JsonPlace& config() const { return specials.config(); }
  /// Which of two counts: what tokenizer.json says at `place`, or the key of tokenizer_config.json with its default
  /// `usual`, which a class asks for that `asks`.
  bool setting(const JsonPlace& place, bool listed, const char* key, bool asks, bool usual) const;
};

bool Folder::setting(const JsonPlace& place, bool listed, const char* key, bool asks, bool usual) const {
  const bool said = config().has(key), wanted = said ? config().at(key).flag() : usual;
  if (!rules && said && wanted != listed)
    fail(
        ExitCode::run_failed,
        "{} is {}, but {} is {}; no file says whose tokenizer it is, which would decide: set tokenizer_class in {}, or "
        "make them agree",
        config().at(key).where(), wanted, place.where(), listed, config().where());
  if (!rules || !asks || wanted == listed) return listed;
  log_warn("[data] {} is {}, but {} is {} ({}); taken is {}, as transformers does", place.where(), listed, key, wanted,
           said ? config().where() : "the default of " + rules->name, wanted);
  return wanted;
}

/// BERT's classes override the normalizer of tokenizer.json, for texts.
void read_rules(const Folder& folder, WordPieceOptions& options) {
  const bool asks = folder.rules && folder.rules->bert_rules;
  const JsonPlace& root = folder.root;
  if (!root.has("normalizer")) {
    if (asks)
      root.bad(
          fmt::format("there is no \"normalizer\", which {} needs in transformers; get the tokenizer's files again",
                      folder.rules->name));
    options.rules = {.clean_text = false, .space_chinese = false, .strip_accents = false, .lowercase = false};
    options.token_rules = options.rules;
    return;
  }
  const JsonPlace normalizer = root.at("normalizer");
  const std::string& type = normalizer.at("type").text();
  if (type != "BertNormalizer") unsupported(normalizer, type, "for WordPiece, BertNormalizer or null");
  const JsonPlace lower = normalizer.at("lowercase"), chinese = normalizer.at("handle_chinese_chars");
  options.token_rules = {.clean_text = normalizer.at("clean_text").flag(),
                         .space_chinese = chinese.flag(),
                         .strip_accents = normalizer.flag("strip_accents", lower.flag()),
                         .lowercase = lower.flag()};
  BertRules& rules = options.rules;
  rules.clean_text = options.token_rules.clean_text;
  rules.lowercase = folder.setting(lower, lower.flag(), "do_lower_case", asks, true);
  rules.space_chinese = folder.setting(chinese, chinese.flag(), "tokenize_chinese_chars", asks, true);
  // Without a value accents go where lower case comes.
  const bool listed = normalizer.flag("strip_accents", asks ? rules.lowercase : lower.flag());
  rules.strip_accents = folder.setting(normalizer.has("strip_accents") ? normalizer.at("strip_accents") : normalizer,
                                       listed, "strip_accents", asks, rules.lowercase);
}

JsonPlace pre_tokenizer_of(const JsonPlace& root, const std::string& supported) {
  if (!root.has("pre_tokenizer"))
    root.bad(
        fmt::format("a tokenizer without \"pre_tokenizer\" is not supported; "
                    "supported: {}",
                    supported));
  const JsonPlace found = root.at("pre_tokenizer");
  const std::string& type = found.at("type").text();
  if (type != supported) unsupported(found, type, supported);
  return found;
}

std::shared_ptr<const Tokenizer> make_wordpiece(const Folder& folder, TokenizerParts parts) {
  const JsonPlace& root = folder.root;
  const JsonPlace model = root.at("model");
  allow_only(model, {"type", "vocab", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word"});
  pre_tokenizer_of(root, "BertPreTokenizer");
  WordPieceOptions options;
  read_rules(folder, options);
  options.unknown = model.text("unk_token", options.unknown);
  options.continuation = model.text("continuing_subword_prefix", options.continuation);
  if (model.has("max_input_chars_per_word")) options.longest_word = model.at("max_input_chars_per_word").count();
  return std::make_shared<const WordPiece>(std::move(parts), std::move(options));
}

/// Each merge is `"a b"` or, since version 0.20 of the library, `["a", "b"]`.
Merges read_merges(const JsonPlace& list) {
  Merges merges;
  for (size_t i = 0; i < list.array().size(); ++i) {
    const JsonPlace merge = list.at(i);
    if (merge.json().is_array()) {
      if (merge.json().size() != 2) merge.bad("must be two tokens");
      merges.emplace_back(merge.at(size_t{0}).text(), merge.at(size_t{1}).text());
      continue;
    }
    const std::string& both = merge.text();
    const size_t space = both.find(' ');
    if (space == std::string::npos || both.find(' ', space + 1) != std::string::npos)
      merge.bad("must be two tokens with a space between them");
    merges.emplace_back(both.substr(0, space), both.substr(space + 1));
  }
  return merges;
}

/// ByteLevel alone, or behind a splitter of its own in a Sequence: then the expression (or Digits) says which.
ByteBpeOptions read_splitter(const Folder& folder) {
  const JsonPlace& root = folder.root;
  if (!root.has("pre_tokenizer") || root.at("pre_tokenizer").at("type").text() != "Sequence") {
    const JsonPlace splitter = pre_tokenizer_of(root, "ByteLevel");
    if (!splitter.flag("use_regex", true)) splitter.bad("\"use_regex\": false is not supported");
    const JsonPlace space = splitter.at("add_prefix_space");
    return {.add_prefix_space = folder.setting(space, space.flag(), "add_prefix_space",
                                               folder.rules && !folder.rules->llama_rules, false)};
  }
  const JsonPlace list = root.at("pre_tokenizer").at("pretokenizers");
  if (list.array().size() != 2 || list.at(size_t{1}).at("type").text() != "ByteLevel")
    list.bad("only two splitters, the second of type ByteLevel, are supported");
  const JsonPlace first = list.at(size_t{0}), bytes = list.at(size_t{1});
  // transformers leaves a Sequence as it is, whatever add_prefix_space of tokenizer_config.json says.
  if (bytes.flag("add_prefix_space", true))
    bytes.bad("\"add_prefix_space\": true is not supported behind another splitter");
  const bool by_pattern = bytes.flag("use_regex", true);
  const std::string& type = first.at("type").text();
  if (type == "Digits") {
    if (!first.flag("individual_digits", false)) first.bad("only \"individual_digits\": true is supported");
    if (!by_pattern) bytes.bad("\"use_regex\": false is not supported behind Digits");
    return {.word_end = digits_word_end};
  }
  if (type != "Split") unsupported(first, type, "ByteLevel alone, or behind Digits or Split");
  if (by_pattern) bytes.bad("\"use_regex\": true is not supported behind Split");
  if (first.at("behavior").text() != "Isolated" || first.flag("invert", false))
    first.bad("only \"behavior\": \"Isolated\" without \"invert\" is supported");
  const std::string& pattern = first.at("pattern").at("Regex").text();
  if (pattern == kQwen2Pattern) return {.word_end = qwen2_word_end};
  if (pattern == kLlama3Pattern) return {.word_end = llama3_word_end};
  first.at("pattern").bad(fmt::format("the expression {} is not supported; those of Qwen2 and Llama 3 are", pattern));
}

/// With byte_fallback, by characters.
std::shared_ptr<const Tokenizer> make_piece_bpe(const Folder& folder, TokenizerParts parts) {
  const JsonPlace model = folder.root.at("model");
  must_be_off(model, {"ignore_merges"});
  const PieceOptions form = read_piece_form(folder.root);
  if (folder.rules && folder.rules->llama_rules) need_same_model(folder.config(), parts, form);
  // Every byte has a piece, so nothing is unknown.
  PieceEncoder encoder = merging_encoder(read_merges(model.at("merges")), parts.table);
  return std::make_shared<const PieceTokenizer>(std::move(parts), std::move(encoder), form, /*unknown=*/-1);
}

std::shared_ptr<const Tokenizer> make_bpe(const Folder& folder, TokenizerParts parts) {
  const JsonPlace& root = folder.root;
  if (folder.rules && folder.rules->bert_rules)
    root.bad(fmt::format("{} is {}, which does not read a tokenizer of type BPE; set the class that it was saved by",
                         folder.specials.named().where, folder.rules->name));
  const JsonPlace model = root.at("model");
  allow_only(model, {"type", "vocab", "merges", "unk_token", "dropout", "continuing_subword_prefix",
                     "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges"});
  must_be_off(model, {"dropout", "continuing_subword_prefix", "end_of_word_suffix"});
  if (model.flag("byte_fallback", false)) return make_piece_bpe(folder, std::move(parts));
  if (folder.rules && folder.rules->llama_rules) need_same_model(folder.config(), parts, std::nullopt);
  ByteBpeOptions options = read_splitter(folder);
  options.whole_words_first = model.flag("ignore_merges", false);
  options.unknown = model.text("unk_token", "");
  options.fuse_unknown = model.flag("fuse_unk", false);
  if (root.has("normalizer")) {
    const std::string& normalizer = root.at("normalizer").at("type").text();
    if (normalizer != "NFC") unsupported(root.at("normalizer"), normalizer, "for BPE, NFC or null");
    options.compose = true;
  }
  return std::make_shared<const ByteBpe>(std::move(parts), read_merges(model.at("merges")), options);
}

/// Files of before version 0.9 of the library do not name it.
std::string model_type(const JsonPlace& model) {
  if (model.has("type")) return model.at("type").text();
  return model.has("merges") ? "BPE" : model.has("max_input_chars_per_word") ? "WordPiece" : "unknown";
}

/// The class that a folder names, which must be one that is known.
std::optional<TokenizerClass> class_rules(const NamedClass& named, const std::string& where) {
  if (named.name.empty()) return std::nullopt;
  std::optional<TokenizerClass> rules = find_tokenizer_class(named.name);
  if (!rules)
    fail(ExitCode::run_failed,
         "{}: {} is {}, whose rules are not known here; supported: {}; where tokenizer.json says all, set "
         "PreTrainedTokenizerFast",
         where, named.where, named.name, join(tokenizer_class_names(), ", "));
  return rules;
}

/// "right" or "left".
std::string truncation_side(const JsonPlace& root) {
  if (!root.has("truncation")) return "right";
  return root.at("truncation").text("direction", "Right") == "Left" ? "left" : "right";
}

}  // namespace

std::shared_ptr<const Tokenizer> read_tokenizer_json(TokenizerFiles files) {
  const std::string where = files.path("tokenizer.json");
  const Json json = files.object("tokenizer.json");
  const JsonPlace root(json, where);
  allow_only(root, {std::begin(kSections), std::end(kSections)});
  if (root.text("version", "1.0") != "1.0") unsupported(root.at("version"), root.at("version").text(), "1.0");
  const JsonPlace model = root.at("model");
  const std::string type = model_type(model);
  if (type != "WordPiece" && type != "BPE") unsupported(model, type, "WordPiece, BPE");
  SpecialTokens specials(files);
  specials.refuse_other_files({"tokenizer_file"});
  if (specials.config().flag("from_slow", false))
    specials.config().bad("\"from_slow\": true passes over tokenizer.json, which is not supported; remove the key");
  const std::optional<TokenizerClass> rules = class_rules(specials.named(), where);

  TokenizerParts parts{.files = std::move(files),
                       .where = where,
                       .table = read_table(model, where),
                       .added = listed_tokens(root),
                       .implied = {},
                       .single = {},
                       .pair = {}};
  // Where no processor says otherwise the second text is of type 1.
  parts.pair.second_type = true;
  const TokenizerClass known = rules.value_or(*find_tokenizer_class("PreTrainedTokenizerFast"));
  if (root.has("post_processor") && !known.llama_rules) read_processor(root.at("post_processor"), parts);
  specials.merge_into(parts, known);
  if (known.llama_rules) set_llama_forms(specials, parts);
  specials.finish_forms(parts, known.token_types, truncation_side(root));
  const Folder folder{root, specials, rules};
  return type == "BPE" ? make_bpe(folder, std::move(parts)) : make_wordpiece(folder, std::move(parts));
}

}  // namespace headprune
