#include "data/tokenizer_class.h"

#include <algorithm>

#include "core/open_file.h"

namespace headprune {

namespace {

const std::vector<UsualToken> kBertTokens = {{"unk_token", "[UNK]"},
                                             {"sep_token", "[SEP]"},
                                             {"pad_token", "[PAD]"},
                                             {"cls_token", "[CLS]"},
                                             {"mask_token", "[MASK]"}};

/// Of transformers 4.57.
const std::vector<TokenizerClass>& classes() {
  static const std::vector<TokenizerClass> all = {
      {.name = "BertTokenizer", .bert_rules = true, .token_types = true, .usual = kBertTokens},
      {.name = "DistilBertTokenizer", .bert_rules = true, .token_types = false, .usual = kBertTokens},
      {.name = "ElectraTokenizer", .bert_rules = true, .token_types = true, .usual = kBertTokens},
      {.name = "MobileBertTokenizer", .bert_rules = true, .token_types = true, .usual = kBertTokens},
      {.name = "RobertaTokenizer",
       .bert_rules = false,
       .token_types = false,
       .usual = {{"bos_token", "<s>"},
                 {"eos_token", "</s>"},
                 {"unk_token", "<unk>"},
                 {"sep_token", "</s>"},
                 {"pad_token", "<pad>"},
                 {"cls_token", "<s>"},
                 {"mask_token", "<mask>", true}}},
      {.name = "GPT2Tokenizer",
       .bert_rules = false,
       .token_types = false,
       .usual = {{"bos_token", "<|endoftext|>"}, {"eos_token", "<|endoftext|>"}, {"unk_token", "<|endoftext|>"}}},
      {.name = "Qwen2Tokenizer",
       .bert_rules = false,
       .token_types = false,
       .usual = {{"eos_token", "<|endoftext|>"}, {"unk_token", "<|endoftext|>"}, {"pad_token", "<|endoftext|>"}}},
      {.name = "LlamaTokenizer",
       .llama_rules = true,
       .usual = {{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}}},
      {.name = "MarianTokenizer",
       .bert_rules = false,
       .token_types = false,
       .usual = {{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}}},
      {.name = "PreTrainedTokenizer", .bert_rules = false, .token_types = true, .usual = {}},
  };
  return all;
}

/// The class that AutoTokenizer takes for a model, one of classes() or not; "" where this program has no such model.
std::string class_of_model(const std::string& model_type) {
  for (const auto& [type, name] :
       {std::pair("bert", "BertTokenizer"), std::pair("distilbert", "DistilBertTokenizer"),
        std::pair("electra", "ElectraTokenizer"), std::pair("mobilebert", "MobileBertTokenizer"),
        std::pair("roberta", "RobertaTokenizer"), std::pair("gpt2", "GPT2Tokenizer"),
        std::pair("qwen2", "Qwen2Tokenizer"), std::pair("qwen3", "Qwen2Tokenizer"),
        std::pair("marian", "MarianTokenizer"), std::pair("llama", "LlamaTokenizer"),
        std::pair("mistral", "LlamaTokenizer")})
    if (model_type == type) return name;
  return "";
}

std::string without_fast(std::string name) {
  if (name.ends_with("Fast")) name.resize(name.size() - 4);
  return name;
}

}  // namespace

std::optional<TokenizerClass> find_tokenizer_class(std::string name) {
  name = without_fast(std::move(name));
  for (const TokenizerClass& one : classes())
    if (one.name == name) return one;
  return std::nullopt;
}

std::vector<std::string> tokenizer_class_names() {
  std::vector<std::string> names;
  for (const TokenizerClass& one : classes())
    names.push_back(one.name == "PreTrainedTokenizer" ? "PreTrainedTokenizerFast" : one.name);
  return names;
}

NamedClass named_class(const TokenizerFiles& files, const JsonPlace& config) {
  if (const std::string name = config.text("tokenizer_class", ""); !name.empty())
    return {without_fast(name), "tokenizer_class in " + files.path("tokenizer_config.json"), ""};
  const std::string path = files.path("config.json");
  if (!fs::is_regular_file(path)) return {};
  const Json json = read_json(path);
  const JsonPlace model(json, path);
  if (const std::string name = model.text("tokenizer_class", ""); !name.empty())
    return {without_fast(name), "tokenizer_class in " + path, ""};
  const std::string type = model.text("model_type", "");
  const std::string name = class_of_model(type);
  return {name, type.empty() ? "" : "model_type in " + path, name.empty() ? type : ""};
}

}  // namespace headprune
