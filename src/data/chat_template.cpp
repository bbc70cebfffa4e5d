#include "data/chat_template.h"

#include "core/error.h"
#include "core/open_file.h"
#include "core/text.h"
#include "data/special_tokens.h"

namespace headprune {

namespace {

constexpr const char* kFile = "chat_template.jinja";

constexpr const char* kSupported =
    "supported are, by their exact text, ChatML as SmolLM2 and Qwen2 have it, with a default system message or "
    "without, "
    "that of Qwen1.5, and that of Zephyr and TinyLlama";

/// ChatML, where a default system message may stand between the two parts.
constexpr std::string_view kLoop = "{% for message in messages %}";
constexpr std::string_view kBodies[] = {
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
    "{{'<|im_start|>' + message['role'] + '\n' + message['content']}}"
    "{% if (loop.last and add_generation_prompt) or not loop.last %}{{ '<|im_end|>' + '\n'}}{% endif %}{% endfor %}"
    "{% if add_generation_prompt and messages[-1]['role'] != 'assistant' %}{{ '<|im_start|>assistant\n' }}{% endif %}"};
constexpr std::string_view kSystemBegins =
    "{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\n";
constexpr std::string_view kSystemEnds = "<|im_end|>\n' }}{% endif %}";

constexpr std::string_view kZephyr =
    "{% for message in messages %}\n{% if message['role'] == 'user' %}\n{{ '<|user|>\n' + message['content'] + "
    "eos_token "
    "}}\n{% elif message['role'] == 'system' %}\n{{ '<|system|>\n' + message['content'] + eos_token }}\n{% elif "
    "message['role'] == 'assistant' %}\n{{ '<|assistant|>\n'  + message['content'] + eos_token }}\n{% endif %}\n{% if "
    "loop.last and add_generation_prompt %}\n{{ '<|assistant|>' }}\n{% endif %}\n{% endfor %}";

struct TemplateText {
  std::string text, where;
};

/// The folder's template as its files hold it.
TemplateText find_template(const TokenizerFiles& files) {
  if (fs::exists(files.folder() / "additional_chat_templates"))
    fail(ExitCode::run_failed, "{}: several chat templates (additional_chat_templates) are not supported",
         files.folder().string());
  if (const auto path = files.folder() / kFile; fs::exists(path)) {
    std::string text = read_file_up_to(path, kMaxJsonFile);
    if (text.ends_with('\n')) text.pop_back();  // which Jinja leaves out
    return {std::move(text), path.string()};
  }
  const Json json = files.object("tokenizer_config.json");
  const JsonPlace config(json, files.path("tokenizer_config.json"));
  if (!config.has("chat_template"))
    fail(ExitCode::run_failed,
         "{}: the folder has no chat template (chat_template in tokenizer_config.json, or {}); leave --chat out",
         files.folder().string(), kFile);
  const JsonPlace place = config.at("chat_template");
  if (!place.json().is_string()) place.bad(fmt::format("several chat templates are not supported; {}", kSupported));
  return {place.text(), place.where()};
}

/// The end of a line, which a literal of Jinja may spell as it is or as \n.
std::string with_line_ends(std::string_view text) {
  std::string found;
  bool literal = false;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\'') literal = !literal;
    const bool spelled = literal && text.substr(at).starts_with("\\n");
    found += spelled ? '\n' : text[at];
    at += spelled ? 1 : 0;
  }
  return found;
}

/// The default system message's part of ChatML, taken off `rest`. Nothing is taken where its text is no plain literal.
std::string take_system(std::string_view& rest) {
  if (!rest.starts_with(kSystemBegins)) return "";
  const size_t end = rest.find(kSystemEnds);
  if (end == std::string_view::npos || end < kSystemBegins.size()) return "";
  const std::string_view message = rest.substr(kSystemBegins.size(), end - kSystemBegins.size());
  if (message.find_first_of("'\\") != std::string_view::npos) return "";
  rest.remove_prefix(end + kSystemEnds.size());
  return fmt::format("<|im_start|>system\n{}<|im_end|>\n", message);
}

/// As the files name it, or as the class has it.
std::string eos_token(const TokenizerFiles& files) {
  SpecialTokens specials(files);
  AddedToken usual;
  if (const auto rules = find_tokenizer_class(specials.named().name))
    for (const UsualToken& one : rules->usual)
      if (std::string_view(one.role) == "eos_token") usual.content = one.content;
  const std::optional<AddedToken> token = specials.role("eos_token", usual);
  if (!token)
    specials.config().bad("the chat template puts \"eos_token\" behind a message, which no file names; set the key");
  return token->content;
}

}  // namespace

ChatTemplate read_chat_template(const std::filesystem::path& folder) {
  const TokenizerFiles files(folder);
  const TemplateText found = find_template(files);
  const std::string text = with_line_ends(found.text);
  if (text == kZephyr) return {.before = "<|user|>\n", .after = eos_token(files) + "\n<|assistant|>\n"};
  std::string_view rest = text;
  if (rest.starts_with(kLoop)) {
    rest.remove_prefix(kLoop.size());
    const std::string system = take_system(rest);
    for (const std::string_view body : kBodies)
      if (rest == body)
        return {.before = system + "<|im_start|>user\n", .after = "<|im_end|>\n<|im_start|>assistant\n"};
  }
  fail(ExitCode::run_failed, "{}: this chat template is not supported; {}; or leave --chat out and write the text out",
       found.where, kSupported);
}

}  // namespace headprune
