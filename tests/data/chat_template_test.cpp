// Chat templates as transformers applies them: tests/golden/make_chat_templates.py made what is compared here.
#include "data/chat_template.h"

#include "support/catch_torch.h"
#include "tokenizer_fixture.h"

using namespace headprune;
using namespace headprune::test;

namespace {

Json goldens() {
  const fs::path path = fs::path(HEADPRUNE_SOURCE_DIR) / "tests/golden/chat_templates.json";
  return parse_json(read_file(path), path.string());
}

std::string error_of(const Json& config) {
  const TestFolder folder;
  folder.write("tokenizer_config.json", config.dump());
  try {
    read_chat_template(folder.path());
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::run_failed);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a message is wrapped as transformers wraps it", "[data][chat]") {
  const Json golden = goldens();
  REQUIRE(golden["cases"].size() >= 8);
  for (const Json& one : golden["cases"]) {
    INFO(one["name"].dump());
    const TestFolder folder;
    copy_tokenizer(one["base"].get<std::string>(), folder, "tokenizer_config.json");
    const fs::path config = tokenizer_goldens() / one["base"].get<std::string>() / "tokenizer_config.json";
    Json keys = parse_json(read_file(config), config.string());
    keys.update(one["config"]);
    folder.write("tokenizer_config.json", keys.dump());
    if (one.contains("jinja")) folder.write("chat_template.jinja", one["jinja"].get<std::string>());
    const ChatTemplate chat = read_chat_template(folder.path());
    for (size_t i = 0; i < golden["messages"].size(); ++i)
      CHECK(chat.apply(golden["messages"][i].get<std::string>()) == one["texts"][i].get<std::string>());
    const std::string first = chat.apply(golden["messages"][0].get<std::string>());
    CHECK(read_tokenizer(folder.path())->encode(first) == one["ids"].get<std::vector<int64_t>>());
  }
}

TEST_CASE("a chat template that is not known is refused, however little it differs", "[data][chat]") {
  const Json golden = goldens();
  const auto known = golden["cases"][0]["config"]["chat_template"].get<std::string>();
  const auto edited = [&](const std::string& from, const std::string& to) {
    std::string text = known;
    text.replace(text.find(from), from.size(), to);
    return error_of({{"chat_template", text}});
  };
  CHECK(error_of({{"chat_template", known}}) == "no error");
  for (const auto& [from, to] :
       {std::pair("message['content']", "message['content'] | trim"), std::pair("assistant\n'", "assistant'"),
        std::pair("a helpful", "a \\t helpful"), std::pair("a helpful", "a' + x + 'helpful"),
        std::pair("{% endfor %}", "{% endfor %}\\n"), std::pair("{% for", "{{ bos_token }}{% for")})
    CHECK_THAT(edited(from, to), ContainsSubstring("tokenizer_config.json: chat_template: this chat template is not "
                                                   "supported; supported are"));
  CHECK_THAT(error_of(Json::object()),
             ContainsSubstring("the folder has no chat template") && ContainsSubstring("--chat"));
  const Json named = {{{"name", "default"}, {"template", known}}};
  CHECK_THAT(error_of({{"chat_template", Json::array({named})}}), ContainsSubstring("several chat templates"));
  const auto zephyr = golden["cases"][4]["config"]["chat_template"].get<std::string>();
  CHECK_THAT(error_of({{"chat_template", zephyr}}), ContainsSubstring("\"eos_token\""));
}
