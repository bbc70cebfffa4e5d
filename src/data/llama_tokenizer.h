// What LlamaTokenizer of transformers 4.57 reads: the forms of a tokenizer.json with byte_fallback, and what the class
// does whatever that file says (docs/tokenizers.md). Readers throw Error(run_failed) with file and place.
#pragma once

#include "data/piece_tokenizer.h"
#include "data/special_tokens.h"

namespace headprune {

/// Where `root`, a tokenizer.json, puts "▁": by Prepend and Replace, or by Metaspace.
PieceOptions read_piece_form(const JsonPlace& root);

/// The class puts <s> first, and </s> last, as add_bos_token and add_eos_token say; the file's processor is not asked.
/// `parts` has its added tokens.
void set_llama_forms(SpecialTokens& specials, TokenizerParts& parts);

/// Where the class passes over tokenizer.json for tokenizer.model, that must be the same tokenizer. `form` is what
/// tokenizer.json says; nothing for another kind than pieces.
void need_same_model(const JsonPlace& config, const TokenizerParts& parts, const std::optional<PieceOptions>& form);

}  // namespace headprune
