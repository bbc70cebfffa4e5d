#include "data/special_tokens.h"

#include <algorithm>

namespace headprune {

namespace {

AddedToken parse(const JsonPlace& place, AddedToken usual) {
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

}  // namespace

SpecialTokens::SpecialTokens(const TokenizerFiles& files)
    : config_json_(files.object("tokenizer_config.json")),
      map_json_(files.object("special_tokens_map.json")),
      added_json_(files.object("added_tokens.json")),
      config_(config_json_, files.path("tokenizer_config.json")),
      map_(map_json_, files.path("special_tokens_map.json")),
      added_(added_json_, files.path("added_tokens.json")) {}

std::string SpecialTokens::tokenizer_class() const {
  std::string name = config_.text("tokenizer_class", "");
  if (name.ends_with("Fast")) name.resize(name.size() - 4);
  return name == "PreTrainedTokenizer" ? "" : name;
}

std::optional<AddedToken> SpecialTokens::role(const char* key, const AddedToken& usual) {
  const JsonPlace* place = config_.object().contains(key) ? &config_ : map_.object().contains(key) ? &map_ : nullptr;
  if (place ? !place->has(key) : usual.content.empty()) return std::nullopt;
  AddedToken token = place ? parse(place->at(key), usual) : usual;
  token.special = true;
  roles_.push_back(token);
  return token;
}

std::vector<AddedToken> SpecialTokens::added(const TokenTable& table) const {
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

TokenTable read_vocab_table(const TokenizerFiles& files) {
  const std::string where = files.path("vocab.json");
  const Json json = files.object("vocab.json");
  std::vector<std::pair<std::string, int64_t>> entries;
  for (const auto& [token, id] : json.items())
    entries.emplace_back(token, JsonPlace(id, where, fmt::format("[\"{}\"]", token)).count());
  return {std::move(entries), where};
}

}  // namespace headprune
