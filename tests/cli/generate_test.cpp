// How a decoder goes on with texts, through the real binary.
#include "cli/program.h"
#include "core/json.h"
#include "support/catch.h"

namespace headprune {

namespace {

constexpr const char* kCycle = "abacad";

/// What follows a letter `a` of the cycle hangs on the letter before it, so that heads are needed.
std::string repeated(size_t length, size_t from = 0) {
  std::string text;
  for (size_t i = 0; i < length; ++i) text += kCycle[(from + i) % 6];
  return text;
}

/// A decoder that has learned the cycle, trained once.
const fs::path& trained() {
  static const TestFolder scratch;
  static const fs::path model = [] {
    write_file(scratch / "text.txt", repeated(6000));
    write_file(scratch / "cycle.yaml",
               "name: cycle\ndata: {type: text, path: text.txt, context_length: 25}\ntask: {type: language_modelling}\n"
               "model: {type: decoder, d_model: 32, layers: 2, heads: 2, dropout: 0.0}\n"
               "train: {max_steps: 120, learning_rate: 0.01, per_device_train_batch_size: 16}\n"
               "report: {bootstrap_iters: 100}\nruntime: {threads: 1}\n");
    const Finished done = headprune_in(scratch.path(), {"run", "cycle.yaml"});
    if (done.code != 0) throw std::runtime_error("the experiment failed: " + done.err);
    return scratch / "runs/cycle/model";
  }();
  return model;
}

Finished generate(const fs::path& folder, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"generate", trained().string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return headprune_in(folder, arguments);
}

}  // namespace

TEST_CASE("generate goes on with each prompt, to the number of tokens asked for", "[cli][generate]") {
  const TestFolder scratch;
  const Finished one = generate(scratch.path(), {"--prompt", repeated(8), "--max-new-tokens", "7"});
  INFO(one.err);
  REQUIRE(one.code == 0);
  CHECK(one.out == repeated(7, 8) + "\n");
  CHECK(one.err.empty());

  write_file(scratch / "prompts.txt", repeated(4) + "\n" + repeated(9, 2) + "\n");
  const Finished several = generate(
      scratch.path(), {"--prompt", repeated(8), "--prompt-file", "prompts.txt", "--max-new-tokens", "7", "--json"});
  INFO(several.err);
  REQUIRE(several.code == 0);
  const Json list = parse_json(several.out, "stdout");
  REQUIRE(list.size() == 3);
  CHECK(list[0]["text"] == repeated(7, 8));
  CHECK(list[1]["text"] == repeated(7, 4));
  CHECK(list[2]["text"] == repeated(7, 11));
  CHECK(list[2]["prompt"] == repeated(9, 2));
  CHECK(list[2]["prompt_tokens"].size() == 9);
  CHECK(list[2]["tokens"].size() == 7);
}

TEST_CASE("generate ends at the folder's end token, or where positions end", "[cli][generate]") {
  const TestFolder scratch;
  fs::copy(trained(), scratch / "model", fs::copy_options::recursive);
  const Json tokens = parse_json(read_file(scratch / "model/vocabulary.json"), "vocabulary")["tokens"];
  const auto id = std::find(tokens.begin(), tokens.end(), "d") - tokens.begin();
  write_file(scratch / "model/generation_config.json", fmt::format("{{\"eos_token_id\":[{}],\"num_beams\":4}}", id));
  const Finished ended = headprune_in(scratch.path(), {"generate", "model", "--prompt", repeated(8)});
  REQUIRE(ended.code == 0);
  CHECK(ended.out == repeated(3, 8) + "\n");
  CHECK_THAT(ended.err, ContainsSubstring("generation_config.json asks for num_beams 4, which is not done"));
  CHECK_THAT(ended.err, ContainsSubstring("may have 72 tokens and the model was made for 25; texts end there"));
  const Finished full = generate(scratch.path(), {"--prompt", repeated(20)});
  CHECK(full.out == repeated(6, 20) + "\n");
}

TEST_CASE("generate writes without the heads of a mask", "[cli][generate]") {
  const TestFolder scratch;
  write_file(scratch / "none.json", "{\"masks\":[{}]}");
  write_file(scratch / "all.json", "{\"masks\":[{\"decoder\":{\"0\":[0,1],\"1\":[0,1]}}]}");
  write_file(scratch / "two.json", "{\"masks\":[{},{\"decoder\":{\"0\":[0]}}]}");
  write_file(scratch / "other.json", "{\"masks\":[{\"decoder\":{\"0\":[2]}}]}");
  const auto masked = [&](const std::string& mask) {
    return generate(scratch.path(), {"--prompt", repeated(8), "--max-new-tokens", "12", "--mask", mask});
  };
  CHECK(masked("none.json").out == repeated(12, 8) + "\n");
  const Finished all = masked("all.json");
  CHECK(all.code == 0);
  CHECK(all.out.size() == 13);
  CHECK(all.out != repeated(12, 8) + "\n");
  CHECK(masked("two.json").code == 2);
  CHECK_THAT(masked("two.json").err, ContainsSubstring("two.json: expected one mask"));
  CHECK_THAT(masked("other.json").err, ContainsSubstring("the model has no head decoder.L0.H2"));
}

TEST_CASE("generate says what it cannot go on from", "[cli][generate]") {
  const TestFolder scratch;
  const auto refused = [&](const std::vector<std::string>& arguments, int code, const std::string& sentence) {
    const Finished done = headprune_in(scratch.path(), arguments);
    INFO(done.err);
    CHECK(done.code == code);
    CHECK(done.out.empty());
    CHECK_THAT(done.err, ContainsSubstring(sentence));
  };
  const std::string model = trained().string();
  refused({"generate", model}, 2, "from what is the model to go on?");
  refused({"generate", model, "--prompt", ""}, 2, "a prompt without tokens");
  refused({"generate", model, "--prompt", "a\xFF"}, 2, "a --prompt is not valid UTF-8");
  refused({"generate", model, "--prompt", "a", "--max-new-tokens", "0"}, 2, "--max-new-tokens");
  refused({"generate", model, "--prompt-file", "missing.txt"}, 2, "missing.txt");
  refused({"generate", model, "--prompt", repeated(26)}, 2, "a prompt has 26 tokens and the model 25 positions");
  refused({"generate", "missing", "--prompt", "a"}, 2, "missing");
  refused({"generate", (finished_run() / "model/seed-1").string(), "--prompt", "a"}, 4, "does not go on with texts");
}

TEST_CASE("generate goes on from the folder's chat template, or refuses it", "[cli][generate]") {
  const TestFolder scratch;
  const fs::path golden = fs::path(HEADPRUNE_SOURCE_DIR) / "tests/golden";
  fs::create_directories(scratch / "model");
  for (const char* name : {"config.json", "model.safetensors"})
    fs::copy(golden / "choices" / name, scratch / "model" / name);
  fs::copy(golden / "tokenizers/byte_bpe/tokenizer.json", scratch / "model/tokenizer.json");
  const Json known = parse_json(read_file(golden / "chat_templates.json"), "chat_templates.json");
  Json config = {{"tokenizer_class", "GPT2Tokenizer"}};
  const auto chat = [&] {
    write_file(scratch / "model/tokenizer_config.json", config.dump());
    return headprune_in(scratch.path(),
                        {"generate", "model", "--chat", "--prompt", "Hello world", "--max-new-tokens", "3", "--json"});
  };
  const Finished none = chat();
  CHECK(none.code == 4);
  CHECK_THAT(none.err, ContainsSubstring("the folder has no chat template"));
  config.update(known["cases"][0]["config"]);
  const Finished done = chat();
  INFO(done.err);
  REQUIRE(done.code == 0);
  const Json list = parse_json(done.out, "stdout");
  CHECK(list[0]["prompt"] == "Hello world");
  CHECK(list[0]["prompt_tokens"] == known["cases"][0]["ids"]);
  config["chat_template"] = "{{ messages[0]['content'] }}";
  const Finished other = chat();
  CHECK(other.code == 4);
  CHECK(other.out.empty());
  CHECK_THAT(other.err, ContainsSubstring("this chat template is not supported; supported are"));
}

}  // namespace headprune
