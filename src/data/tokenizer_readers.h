// The layouts in which a model folder brings a tokenizer of its own (formats.md section 4). Each reader throws
// Error(run_failed), one sentence with file and place, for what is damaged or not supported.
#pragma once

#include <memory>

#include "data/tokenizer.h"
#include "data/tokenizer_files.h"
#include "data/translation_tokenizer.h"

namespace headprune {

/// tokenizer.json. Its "truncation", "padding" and "decoder" do not change the ids of a text and are passed over; what
/// tokenizer_config.json says is not asked for, as the `tokenizers` library does not.
std::shared_ptr<const Tokenizer> read_tokenizer_json(TokenizerFiles files);

/// vocab.txt, rules from tokenizer_config.json. Special tokens are those that transformers adds for BertTokenizer.
std::shared_ptr<const Tokenizer> read_vocab_txt(TokenizerFiles files);

/// vocab.json and merges.txt. The form is RoBERTa's or GPT-2's by tokenizer_class in tokenizer_config.json, else by
/// model_type in config.json.
std::shared_ptr<const Tokenizer> read_vocab_json(TokenizerFiles files);

/// source.spm, target.spm and vocab.json.
std::shared_ptr<const TranslationTokenizer> read_marian(TokenizerFiles files);

}  // namespace headprune
