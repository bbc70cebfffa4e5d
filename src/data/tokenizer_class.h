// Which tokenizer class of transformers a folder is for, and what that class does whatever tokenizer.json says
// (docs/tokenizers.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/json_place.h"
#include "data/tokenizer_files.h"

namespace headprune {

/// A special token that a class has unless the files name another.
struct UsualToken {
  const char *role, *content;
  bool lstrip = false;
};

struct TokenizerClass {
  std::string name;               // "BertTokenizer": as in transformers, without "Fast"
  bool bert_rules = false;        // the rules for text come from tokenizer_config.json, with the class's defaults
  bool token_types = false;       // model_input_names has token_type_ids
  bool llama_rules = false;       // the form comes from add_bos_token and add_eos_token, and more (llama_tokenizer.h)
  std::vector<UsualToken> usual;  // in the order in which transformers adds them
};

/// The class by its name in transformers, with or without "Fast"; nothing for one that is not supported.
std::optional<TokenizerClass> find_tokenizer_class(std::string name);
std::vector<std::string> tokenizer_class_names();

/// What a folder says of its class: tokenizer_class in tokenizer_config.json, else in config.json, else what its
/// model_type stands for, as AutoTokenizer looks for it. `where` is the file and key; empty where no file says
/// anything.
struct NamedClass {
  std::string name, where;
  std::string model_type;  // one that stands for no class that is known here; else ""
};
NamedClass named_class(const TokenizerFiles& files, const JsonPlace& config);

}  // namespace headprune
