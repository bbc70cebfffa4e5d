// How byte-level BPE tokenizers split a text before they merge: by hand, since the expressions that their files hold
// (\p{L}, (?!\S), case-insensitive parts) are those of other libraries' engines.
#pragma once

#include <cstddef>
#include <string_view>

namespace headprune {

/// End of the word that begins at byte `at` of valid UTF-8; more than `at`.
using WordEnd = size_t (*)(std::string_view text, size_t at);

/// GPT-2's pattern 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
size_t gpt2_word_end(std::string_view text, size_t at);
/// The same where every digit stands alone, split off before the pattern is looked for (SmolLM2: Digits, then
/// ByteLevel).
size_t digits_word_end(std::string_view text, size_t at);
/// Qwen2's kQwen2Pattern, and with up to three digits a word kLlama3Pattern.
size_t qwen2_word_end(std::string_view text, size_t at);
size_t llama3_word_end(std::string_view text, size_t at);

inline constexpr const char* kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr const char* kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

}  // namespace headprune
