#include <memory>

#include "cli/cli.h"
#include "core/log.h"
#include "core/text.h"
#include "data/chat_template.h"
#include "data/text_lines.h"
#include "model/folder.h"
#include "model/greedy.h"
#include "prune/head_file.h"

namespace headprune {

namespace {

constexpr int64_t kTogether = 32;  // prompts

struct GenerateArguments {
  std::string folder, prompt_file, mask;
  std::vector<std::string> prompts;
  int64_t most = 64;
  bool chat = false;
};

std::vector<std::string> prompts_of(const GenerateArguments& arguments) {
  std::vector<std::string> prompts = arguments.prompts;
  for (const std::string& prompt : prompts)
    if (invalid_utf8(prompt)) fail(ExitCode::usage, "a --prompt is not valid UTF-8");
  if (!arguments.prompt_file.empty())
    for (std::string& line : read_text_lines(arguments.prompt_file)) prompts.push_back(std::move(line));
  if (prompts.empty())
    fail(ExitCode::usage, "from what is the model to go on? give --prompt TEXT, or --prompt-file with one a line");
  return prompts;
}

ModelFolder decoder_folder(const std::string& path) {
  ModelFolder folder = read_model_folder(path);
  if (folder.config.architecture != Architecture::decoder)
    fail(ExitCode::run_failed,
         "{} holds a model of type {}, which does not go on with texts; give the folder of a decoder (gpt2, llama, "
         "mistral, qwen2, qwen3, or model/ of a run with model.type: decoder)",
         path, folder.model_type());
  return folder;
}

/// The prompt as the folder's tokenizer begins a text; without what it puts behind one.
Example prompt_example(const std::string& prompt, const Tokenizer& tokenizer) {
  Example example;
  // Models that were trained here read texts without a first token.
  if (!tokenizer.unit()) example.tokens = tokenizer.form(1).before;
  const std::vector<int64_t> ids = tokenizer.encode(prompt);
  example.tokens.insert(example.tokens.end(), ids.begin(), ids.end());
  if (example.tokens.empty())
    fail(ExitCode::usage, "a prompt without tokens: this tokenizer begins texts with no token of its own; write some");
  return example;
}

/// The turn of a user and the beginning of the assistant's, as the folder's template spells them.
Example chat_example(const std::string& prompt, const ChatTemplate& chat, const Tokenizer& tokenizer) {
  Example example;
  example.tokens = tokenizer.encode(chat.apply(prompt));
  return example;
}

/// Throws where a prompt is longer than the model can read, and warns of what may come out of the model's depth.
void check_lengths(const std::vector<Example>& examples, int64_t most, const TransformerConfig& sizes) {
  int64_t longest = 0;
  for (const Example& example : examples) longest = std::max<int64_t>(longest, std::ssize(example.tokens));
  const bool bounded = sizes.positions == Positions::learned;
  if (bounded && longest > sizes.max_length)
    fail(ExitCode::usage, "a prompt has {} tokens and the model {} positions; shorten it", longest, sizes.max_length);
  if (longest + most > sizes.max_length && sizes.max_length > 0)
    log_warn("[generate] prompt and continuation may have {} tokens and the model was made for {}; {}", longest + most,
             sizes.max_length, bounded ? "texts end there" : "what it writes beyond may be of no use");
}

PerBlock gates_of_file(const std::string& file, const Blocks& blocks) {
  if (file.empty()) return {};
  const HeadFile heads = read_head_file(file, blocks);
  if (!heads.has_masks || heads.masks.size() != 1)
    fail(ExitCode::usage, "{}: expected one mask, {{\"masks\": [{{\"decoder\": {{\"0\": [1]}}}}]}}", file);
  return mask_gates(blocks, heads.masks.front().removed, torch::kCPU);
}

/// With U+FFFD where it is no valid UTF-8: the last character may have been cut.
std::string valid_text(const std::string& bytes) {
  return parse_json(dump_json(Json(bytes)), "text").get<std::string>();
}

ExitCode generate(const CommandLine& line, const GenerateArguments& arguments) {
  const std::vector<std::string> prompts = prompts_of(arguments);
  const ModelFolder folder = decoder_folder(arguments.folder);
  const auto tokenizer = read_tokenizer(folder.path);
  const WritingSettings settings = read_writing_settings(folder.path);
  if (!settings.ignored.empty())
    log_warn("[generate] generation_config.json asks for {}, which is not done: the likeliest token is written",
             join(settings.ignored, ", "));
  std::vector<Example> examples;
  if (arguments.chat) {
    const ChatTemplate chat = read_chat_template(folder.path);
    for (const std::string& prompt : prompts) examples.push_back(chat_example(prompt, chat, *tokenizer));
  } else {
    for (const std::string& prompt : prompts) examples.push_back(prompt_example(prompt, *tokenizer));
  }
  check_lengths(examples, arguments.most, folder.config);
  const PerBlock gates = gates_of_file(arguments.mask, folder.blocks());
  const auto model = build_loaded(folder, {.vocabulary_size = tokenizer->size()});
  model->eval();

  std::vector<std::vector<int64_t>> texts;
  for (int64_t first = 0; first < std::ssize(examples); first += kTogether) {
    std::vector<int64_t> some;
    for (int64_t i = first; i < std::min(first + kTogether, std::ssize(examples)); ++i) some.push_back(i);
    for (auto& text : continue_texts(*model->writer(), make_batch(examples, some, torch::kCPU), gates,
                                     {.ends = settings.ends, .most = arguments.most}))
      texts.push_back(std::move(text));
  }

  Json list = Json::array();
  std::string all;
  for (size_t i = 0; i < texts.size(); ++i) {
    std::string text = valid_text(tokenizer->decode(texts[i]));
    const bool begins = prompts[i].empty() && !arguments.chat;
    if (begins && tokenizer->begins_with_space() && text.starts_with(' ')) text.erase(0, 1);
    list.push_back(
        {{"prompt", prompts[i]}, {"text", text}, {"prompt_tokens", examples[i].tokens}, {"tokens", texts[i]}});
    all += text + "\n";
  }
  print_result(line.common.json ? dump_json_file(list) : all);
  return ExitCode::ok;
}

}  // namespace

void add_generate(CommandLine& line) {
  CLI::App& command = *line.app.add_subcommand("generate", "how a decoder goes on with a text, with or without heads");
  auto arguments = std::make_shared<GenerateArguments>();
  command.add_option("MODEL_FOLDER", arguments->folder, "folder of a decoder, with its tokenizer")->required();
  command.add_option("--prompt", arguments->prompts, "the text to go on from; may be given several times")
      ->expected(1)
      ->take_all();
  command.add_option("--prompt-file", arguments->prompt_file, "a text file with one prompt a line");
  command.add_option("--max-new-tokens", arguments->most, "tokens written at most; by default 64")
      ->check(CLI::PositiveNumber);
  command.add_flag("--chat", arguments->chat, "each prompt is what a user says, in the folder's chat template");
  command.add_option("--mask", arguments->mask, "JSON file with one mask, as the rule from_file reads it");
  command.footer(
      "Examples:\n  headprune generate runs/shakespeare/model --prompt \"ROMEO:\"\n"
      "  headprune generate smollm2 --prompt-file prompts.txt --mask heads.json --json");
  command.callback([&line, arguments] { line.chosen = [&line, arguments] { return generate(line, *arguments); }; });
}

}  // namespace headprune
