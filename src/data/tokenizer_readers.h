// The layouts in which a model folder brings a tokenizer of its own (docs/formats.md section 4). Each reader throws
// Error(run_failed), one sentence with file and place, for what is damaged or not supported.
#pragma once

#include <memory>

#include "data/tokenizer.h"
#include "data/tokenizer_files.h"
#include "data/translation_tokenizer.h"

namespace headprune {

/// tokenizer.json, as transformers' AutoTokenizer reads it with the files beside it (docs/tokenizers.md). Where no file
/// says whose class it is, as the `tokenizers` library reads it alone.
std::shared_ptr<const Tokenizer> read_tokenizer_json(TokenizerFiles files);

/// vocab.txt, rules from tokenizer_config.json. Special tokens are those that transformers adds for BertTokenizer.
std::shared_ptr<const Tokenizer> read_vocab_txt(TokenizerFiles files);

/// vocab.json and merges.txt. The form is that of the class, RoBERTa's or GPT-2's.
std::shared_ptr<const Tokenizer> read_vocab_json(TokenizerFiles files);

/// tokenizer.model of LlamaTokenizer, pieces by SentencePiece itself.
std::shared_ptr<const Tokenizer> read_tokenizer_model(TokenizerFiles files);

/// source.spm, target.spm and vocab.json.
std::shared_ptr<const TranslationTokenizer> read_marian(TokenizerFiles files);

}  // namespace headprune
