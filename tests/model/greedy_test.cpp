// Continuations against transformers' generate() (tests/golden/make_continuations.py), and what folders say of ends.
#include "model/greedy.h"

#include "hf_golden.h"
#include "model/support.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

using Texts = std::vector<std::vector<int64_t>>;

Json continuations() {
  const fs::path file = fs::path(HEADPRUNE_SOURCE_DIR) / "tests/golden/continuations.json";
  return parse_json(read_file(file), file.string())["cases"];
}

Texts one_by_one(Model& model, const Texts& prompts, const PerBlock& gates, const GreedySearch& search) {
  Texts texts;
  for (const auto& prompt : prompts)
    texts.push_back(continue_texts(*model.writer(), batch_of({prompt}), gates, search).front());
  return texts;
}

}  // namespace

TEST_CASE("decoders go on with texts as transformers' generate does, masked and without heads", "[greedy][hf]") {
  int64_t full = 0, ended = 0;
  for (const Json& golden : continuations()) {
    const auto model = HfGolden(golden["case"].get<std::string>()).model();
    const HeadSet removed = heads_of(golden["removed"], Kind::decoder);
    INFO(golden["case"] << " without " << removed.to_json().dump());
    const PerBlock gates = mask_gates(model->blocks(), removed, torch::kCPU);
    const auto pruned = model->copy();
    pruned->remove_heads(removed);
    const Texts prompts = golden["prompts"];
    const auto most = golden["most"].get<int64_t>();
    const Texts tokens = golden["tokens"], cut = golden["ended"];
    const GreedySearch to_the_end{.ends = {}, .most = most}, search{.ends = golden["ends"], .most = most};
    CHECK(continue_texts(*model->writer(), batch_of(prompts), gates, to_the_end) == tokens);
    CHECK(continue_texts(*model->writer(), batch_of(prompts), gates, search) == cut);
    CHECK(one_by_one(*pruned, prompts, {}, search) == cut);
    for (const auto& text : cut) ++(std::ssize(text) == most ? full : ended);
  }
  CHECK(full > 5);
  CHECK(ended > 50);
}

TEST_CASE("a text ends where the model has no position left", "[greedy]") {
  const auto model = small_model(small_config(Kind::decoder));  // 9 positions
  const Texts prompts = {{2, 5, 7, 4, 9, 3, 1, 1, 8}, {4}, {4, 2, 6}};
  const Texts texts = continue_texts(*model, batch_of(prompts), {}, {.ends = {}, .most = 6});
  CHECK(texts[0].size() == 1);
  CHECK(texts[1].size() == 6);
  CHECK(texts[2].size() == 6);
  CHECK(one_by_one(*model, prompts, {}, {.ends = {}, .most = 6}) == texts);
  const Texts all = continue_texts(*model, batch_of(prompts), {}, {.ends = {}, .most = 100});
  CHECK(all[1].size() == 9);
  CHECK(all[2].size() == 7);
}

TEST_CASE("numbers that are not finite are no text", "[greedy]") {
  const torch::NoGradGuard no_grad;
  const auto model = small_model(small_config(Kind::decoder));
  model->attention(1).output().weight[0][0] = NAN;
  CHECK_THROWS_WITH(continue_texts(*model, batch_of({{2, 5}}), {}, {}), ContainsSubstring("not finite"));
}

TEST_CASE("end tokens come from generation_config.json, then from config.json", "[greedy]") {
  const TestFolder folder;
  const auto ends = [&] { return read_writing_settings(folder.path()).ends; };
  CHECK(ends().empty());
  write_file(folder / "config.json", "{\"eos_token_id\":7}");
  CHECK(ends() == std::vector<int64_t>{7});
  write_file(folder / "generation_config.json", "{\"eos_token_id\":null,\"repetition_penalty\":1.0}");
  CHECK(ends() == std::vector<int64_t>{7});
  CHECK(read_writing_settings(folder.path()).ignored.empty());
  write_file(folder / "generation_config.json", "{\"eos_token_id\":[3,5],\"repetition_penalty\":1.1,\"top_p\":0.9}");
  CHECK(ends() == std::vector<int64_t>{3, 5});
  CHECK(read_writing_settings(folder.path()).ignored == std::vector<std::string>{"repetition_penalty 1.1"});
  for (const char* bad : {"[]", "\"7\"", "-1", "[3,-1]", "1.5"}) {
    write_file(folder / "generation_config.json", fmt::format("{{\"eos_token_id\":{}}}", bad));
    CHECK_THROWS_WITH(ends(),
                      ContainsSubstring(fmt::format("generation_config.json: eos_token_id is {}; expected", bad)));
  }
  write_file(folder / "generation_config.json", "[]");
  CHECK_THROWS_WITH(ends(), ContainsSubstring("expected one JSON object"));
}
