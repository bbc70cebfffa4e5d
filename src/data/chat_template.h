// How a folder's chat_template wraps what a user says. Templates are programs of Jinja; a few well-known ones are
// recognised by their text, and every other one is refused (docs/tokenizers.md).
#pragma once

#include <filesystem>
#include <string>

namespace headprune {

/// The text of one message of the user with the assistant's turn begun, as apply_chat_template of transformers gives it
/// with add_generation_prompt: `before`, the message, `after`. Its ids are those of the text alone, without the tokens
/// that begin and end other texts.
struct ChatTemplate {
  std::string before, after;

  std::string apply(const std::string& message) const { return before + message + after; }
};

/// chat_template.jinja, else chat_template of tokenizer_config.json. Throws Error(run_failed): none, or one that is not
/// supported, with what is.
ChatTemplate read_chat_template(const std::filesystem::path& folder);

}  // namespace headprune
