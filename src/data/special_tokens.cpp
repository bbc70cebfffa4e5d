#include "data/special_tokens.h"

#include <algorithm>

namespace headprune {

namespace {

constexpr const char* kRoles[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                  "pad_token", "cls_token", "mask_token"};

AddedToken parse(const JsonPlace& place, AddedToken usual) {
  if (place.json().is_string()) {
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

AddedToken* find_token(std::vector<AddedToken>& tokens, const std::string& content) {
  const auto at = std::find_if(tokens.begin(), tokens.end(), [&](const AddedToken& t) { return t.content == content; });
  return at == tokens.end() ? nullptr : &*at;
}

/// Adds a special token that files name without an id: at that of the vocabulary, or as an implied one.
void add_special(TokenizerParts& parts, AddedToken token) {
  token.special = true;
  if (find_token(parts.added, token.content) || find_token(parts.implied, token.content)) return;
  token.id = parts.table.id(token.content);
  (token.id < 0 ? parts.implied : parts.added).push_back(token);
}

void take_flags(AddedToken& token, const AddedToken& from) {
  token.lstrip = from.lstrip;
  token.rstrip = from.rstrip;
  token.single_word = from.single_word;
}

}  // namespace

SpecialTokens::SpecialTokens(const TokenizerFiles& files)
    : config_json_(files.object("tokenizer_config.json")),
      map_json_(files.object("special_tokens_map.json")),
      added_json_(files.object("added_tokens.json")),
      config_(config_json_, files.path("tokenizer_config.json")),
      map_(map_json_, files.path("special_tokens_map.json")),
      added_(added_json_, files.path("added_tokens.json")),
      named_(named_class(files, config_)) {}

const JsonPlace* SpecialTokens::place_of(const char* key) const {
  if (!says_all() && map_.object().contains(key)) return &map_;
  return config_.object().contains(key) ? &config_ : nullptr;
}

std::optional<AddedToken> SpecialTokens::role(const char* key, const AddedToken& usual) {
  const JsonPlace* place = place_of(key);
  if (place ? !place->has(key) : usual.content.empty()) return std::nullopt;
  AddedToken token = place ? parse(place->at(key), usual) : usual;
  token.special = true;
  roles_.push_back(token);
  return token;
}

std::vector<AddedToken> SpecialTokens::decoder_tokens() const {
  std::vector<AddedToken> found;
  if (!config_.has("added_tokens_decoder")) return found;
  const JsonPlace decoder = config_.at("added_tokens_decoder");
  for (const auto& [id, value] : decoder.object().items()) {
    const JsonPlace place = decoder.at(id.c_str());
    AddedToken token = parse(place, {});
    if (id.empty() || id.size() > 9 || id.find_first_not_of("0123456789") != std::string::npos)
      decoder.bad(fmt::format("\"{}\" is not an id", id));
    token.id = std::stoll(id);
    token.special = place.flag("special", false);
    token.normalized = place.flag("normalized", !token.special);
    if (!find_token(found, token.content)) found.push_back(token);
  }
  return found;
}

/// additional_special_tokens and extra_special_tokens.
std::vector<AddedToken> SpecialTokens::more_special_tokens() const {
  std::vector<AddedToken> found;
  const auto add = [&](const JsonPlace& list) {
    for (size_t i = 0; i < list.array().size(); ++i)
      found.push_back(parse(list.at(i), {.content = "", .special = true}));
  };
  if (config_.has("additional_special_tokens")) add(config_.at("additional_special_tokens"));
  if (!says_all() && map_.has("additional_special_tokens")) add(map_.at("additional_special_tokens"));
  if (!config_.has("extra_special_tokens")) return found;
  const JsonPlace extra = config_.at("extra_special_tokens");
  for (const auto& [name, value] : extra.object().items())
    found.push_back(parse(extra.at(name.c_str()), {.content = "", .special = true}));
  return found;
}

void SpecialTokens::add_to(TokenizerParts& parts) const {
  std::vector<AddedToken>& found = parts.added;
  if (says_all()) {
    found = decoder_tokens();
    for (AddedToken& token : found)
      token.special = token.special || std::any_of(roles_.begin(), roles_.end(), [&](const AddedToken& role) {
                        return role.content == token.content;
                      });
  } else {
    const auto add_listed = [&](AddedToken token) {
      if (!find_token(found, token.content)) found.push_back(std::move(token));
    };
    // A tokenizer.json that tokenizer_config.json puts aside (tokenizer_file: null) still lists its tokens.
    if (parts.files.has("tokenizer.json")) {
      const std::string path = parts.files.path("tokenizer.json");
      const Json json = parts.files.object("tokenizer.json");
      for (AddedToken& token : listed_tokens(JsonPlace(json, path))) add_listed(std::move(token));
    }
    for (const AddedToken& role : roles_) {
      AddedToken token = role;
      if (added_.has(token.content.c_str()) && parts.table.id(token.content) < 0) {
        token.id = added_.at(token.content.c_str()).count();
        add_listed(std::move(token));
      }
    }
    for (const auto& [content, id] : added_.object().items()) {
      const bool special = std::any_of(roles_.begin(), roles_.end(),
                                       [&, &name = content](const AddedToken& role) { return role.content == name; });
      if (!special) add_listed({.content = content, .id = added_.at(content.c_str()).count(), .normalized = true});
    }
  }
  for (const AddedToken& token : roles_) add_special(parts, token);
  for (const AddedToken& token : more_special_tokens()) add_special(parts, token);
  mark_passed_over(parts);
}

/// Flags of added_tokens_decoder are those that count; what it adds stands at the end.
void SpecialTokens::merge_decoder(TokenizerParts& parts) const {
  const std::string here = config_.at("added_tokens_decoder").where();
  for (const AddedToken& token : decoder_tokens()) {
    AddedToken* listed = find_token(parts.added, token.content);
    if (!listed) {
      parts.added.push_back(token);
      continue;
    }
    if (listed->id != token.id)
      fail(ExitCode::run_failed,
           "{} gives the token \"{}\" the id {}, and added_tokens of {} the id {}; make them agree", here,
           token.content, token.id, parts.where, listed->id);
    // The library looks for a special token in the text that tokenizer.json says, whatever stands here.
    if (listed->special && (token.special || token.normalized == listed->normalized)) {
      take_flags(*listed, token);
    } else if (listed->special != token.special || listed->normalized != token.normalized ||
               listed->lstrip != token.lstrip || listed->rstrip != token.rstrip ||
               listed->single_word != token.single_word) {
      fail(ExitCode::run_failed,
           "{} and added_tokens of {} contradict each other: the token \"{}\" has other flags (special, normalized, "
           "lstrip, rstrip, single_word) here and there; make them agree",
           here, parts.where, token.content);
    }
  }
}

void SpecialTokens::merge_into(TokenizerParts& parts, const TokenizerClass& rules) {
  const std::vector<AddedToken> listed = parts.added;
  const auto in = [](std::vector<AddedToken> tokens, const std::string& content) {
    return find_token(tokens, content) != nullptr;
  };
  if (says_all()) {
    merge_decoder(parts);
  } else {
    for (const auto& [content, id] : added_.object().items())
      if (!find_token(parts.added, content))
        parts.added.push_back({.content = content, .id = added_.at(content.c_str()).count(), .normalized = true});
  }
  const std::vector<AddedToken> known = says_all() ? decoder_tokens() : parts.added;
  for (const char* key : kRoles) {
    const auto usual = std::find_if(rules.usual.begin(), rules.usual.end(),
                                    [&](const UsualToken& one) { return std::string_view(one.role) == key; });
    const bool has_usual = usual != rules.usual.end();
    AddedToken unnamed;
    if (has_usual) unnamed.content = usual->content, unnamed.lstrip = usual->lstrip;
    const std::optional<AddedToken> token = role(key, unnamed);
    if (!token) continue;
    // A file that names a token takes its flags from where they are listed; the class's own token brings its flags.
    const bool named = place_of(key) != nullptr;
    AddedToken* there = find_token(parts.added, token->content);
    const bool flagged = named ? place_of(key)->at(key).json().is_object() || unnamed.lstrip : unnamed.lstrip;
    if (there && flagged && !(named && in(known, token->content))) take_flags(*there, *token);
    add_special(parts, *token);
  }
  for (const AddedToken& token : more_special_tokens()) add_special(parts, token);
  for (AddedToken& token : parts.added)
    if (!in(listed, token.content) && in(roles_, token.content)) token.special = true;
  mark_passed_over(parts);
}

void SpecialTokens::mark_passed_over(TokenizerParts& parts) const {
  if (!config_.flag("split_special_tokens", false)) return;
  for (std::vector<AddedToken>* tokens : {&parts.added, &parts.implied})
    for (AddedToken& token : *tokens) token.passed_over = token.special;
}

void SpecialTokens::finish_forms(TokenizerParts& parts, bool token_types, const std::string& side) const {
  if (config_.has("model_input_names")) {
    const JsonPlace names = config_.at("model_input_names");
    token_types = false;
    for (size_t i = 0; i < names.array().size(); ++i)
      token_types = token_types || names.at(i).text() == "token_type_ids";
  }
  const std::string cut = config_.text("truncation_side", side);
  if (cut != "left" && cut != "right")
    config_.bad(fmt::format("truncation_side: \"{}\" is neither left nor right", cut));
  for (SequenceForm* form : {&parts.single, &parts.pair}) {
    form->second_type = form->second_type && token_types;
    form->cut_left = cut == "left";
  }
}

void SpecialTokens::refuse_other_files(const std::vector<const char*>& keys) const {
  for (const char* key : keys)
    if (config_.has(key))
      config_.bad(
          fmt::format("\"{}\" names another file, which transformers would read instead of the one in the folder; "
                      "remove the key",
                      key));
}

TokenTable read_vocab_table(const TokenizerFiles& files) {
  const std::string where = files.path("vocab.json");
  const Json json = files.object("vocab.json");
  std::vector<std::pair<std::string, int64_t>> entries;
  for (const auto& [token, id] : json.items())
    entries.emplace_back(token, JsonPlace(id, where, fmt::format("[\"{}\"]", token)).count());
  return {std::move(entries), where};
}

std::vector<AddedToken> listed_tokens(const JsonPlace& root) {
  std::vector<AddedToken> added;
  if (!root.has("added_tokens")) return added;
  const JsonPlace list = root.at("added_tokens");
  for (size_t i = 0; i < list.array().size(); ++i) {
    const JsonPlace token = list.at(i);
    added.push_back({.content = token.at("content").text(),
                     .id = token.at("id").count(),
                     .special = token.flag("special", false),
                     .single_word = token.flag("single_word", false),
                     .lstrip = token.flag("lstrip", false),
                     .rstrip = token.flag("rstrip", false),
                     .normalized = token.flag("normalized", true)});
  }
  return added;
}

}  // namespace headprune
