// A tokenizer that several files describe: what transformers' AutoTokenizer makes of a folder, or a refusal
// (docs/tokenizers.md, tests/golden/make_tokenizer_files.py).
#include <set>

#include "data/sequence.h"
#include "support/catch_torch.h"
#include "tokenizer_fixture.h"

using namespace headprune;
using namespace headprune::test;
using Ids = std::vector<int64_t>;

namespace {

/// Folders that transformers reads and this program does not, with a part of the sentence.
const std::map<std::string, std::string> kRefused = {
    {"MPNet's class", "MPNetTokenizer, whose rules are not known here"},
    {"MPNet's class, without tokenizer.json", "MPNetTokenizer"},
    {"not special in added_tokens_decoder", "contradict each other: the token \"[MASK]\" has other flags"},
    {"a token under another id", "the added token \"words\" has id 5"},
    {"a token under another id, without tokenizer.json", "the added token \"words\" has id 5"},
    {"a new token in added_tokens_decoder, without tokenizer.json", "the next id is 1893"},
    {"from_slow", "from_slow"},
    {"do_basic_tokenize and never_split, without tokenizer.json", "do_basic_tokenize"},
    {"byte_bpe as RobertaTokenizer, add_prefix_space True, without tokenizer.json", "cls_token \"<s>\""},
    {"byte_bpe as RobertaTokenizer, add_prefix_space False, without tokenizer.json", "cls_token \"<s>\""},
    {"byte_bpe as RobertaTokenizer, keys absent, without tokenizer.json", "cls_token \"<s>\""},
    {"Llama, Metaspace, add_prefix_space alone", "add_prefix_space: for this key LlamaTokenizer passes over"},
    {"Llama, legacy False, add_prefix_space True", "puts spaces first in another way"},
    {"Llama, add_prefix_space False", "puts spaces first in another way"},
    {"Llama, tokenizer_file is null", "\"tokenizer_file\" is null"},
    {"Llama's files as BertTokenizer", "BertTokenizer, which does not read a tokenizer of type BPE"},
    {"Llama's files as CodeLlamaTokenizer", "CodeLlamaTokenizer, whose rules are not known here"},
};

FolderText files_of(const Json& one) {
  FolderText files;
  for (const auto& entry : fs::directory_iterator(tokenizer_goldens() / one["base"].get<std::string>()))
    files[entry.path().filename().string()] = read_file(entry.path());
  for (const Json& name : one["without"]) files.erase(name.get<std::string>());
  std::map<std::string, Json> edited;
  const auto open = [&](const std::string& name) -> Json& {
    if (!edited.contains(name)) edited[name] = files.contains(name) ? parse_json(files[name], name) : Json::object();
    return edited[name];
  };
  for (const auto& [name, edits] : one["set"].items())
    for (const auto& [pointer, value] : edits.items()) open(name)[Json::json_pointer(pointer)] = value;
  for (const auto& [name, pointers] : one["delete"].items())
    for (const Json& pointer : pointers) {
      const Json::json_pointer place(pointer.get<std::string>());
      Json& parent = open(name)[place.parent_pointer()];
      if (parent.is_array())
        parent.erase(std::stoul(place.back()));
      else
        parent.erase(place.back());
    }
  for (const auto& [name, json] : edited) files[name] = json.dump();
  return files;
}

Example example_of(const Tokenizer& tokenizer, const std::vector<std::string>& texts, int64_t longest = 1000) {
  TextIds ids;
  for (const std::string& text : texts) ids.push_back(tokenizer.encode(text));
  const SequenceForm form = tokenizer.form(ids.size());
  cut_texts(ids, form, longest);
  Example example = assemble(ids, form);
  example.token_types.resize(example.tokens.size(), 0);  // empty: all 0
  return example;
}

}  // namespace

TEST_CASE("a folder's files together mean what they mean to transformers, or are refused", "[data][tokenizer][files]") {
  const Json golden = golden_json("files.json");
  REQUIRE(golden["cases"].size() > 220);
  const auto pair = golden["pair"].get<std::vector<std::string>>();
  std::set<std::string> refused;
  for (const Json& one : golden["cases"]) {
    const auto name = one["name"].get<std::string>();
    INFO(name);
    const FolderText files = files_of(one);
    if (one.contains("error")) {
      CHECK(tokenizer_error(files).first == ExitCode::run_failed);
      continue;
    }
    if (const auto at = kRefused.find(name); at != kRefused.end()) {
      const auto [code, sentence] = tokenizer_error(files);
      CHECK(code == ExitCode::run_failed);
      CHECK_THAT(sentence, ContainsSubstring(at->second));
      refused.insert(name);
      continue;
    }
    if (const auto [code, sentence] = tokenizer_error(files); code != ExitCode::ok) {
      FAIL_CHECK(sentence);
      continue;
    }
    const auto tokenizer = tokenizer_of(files);
    for (size_t i = 0; i < golden["texts"].size(); ++i) {
      INFO(golden["texts"][i].dump());
      CHECK(example_of(*tokenizer, {golden["texts"][i].get<std::string>()}).tokens == one["ids"][i].get<Ids>());
    }
    const Example both = example_of(*tokenizer, pair);
    CHECK(both.tokens == one["pair"].get<Ids>());
    CHECK(both.token_types == one["types"].get<Ids>());
    const auto last = golden["texts"].back().get<std::string>();
    CHECK(example_of(*tokenizer, {last}, golden["max_length"].get<int64_t>()).tokens == one["cut"].get<Ids>());
  }
  CHECK(refused.size() == kRefused.size());
}

TEST_CASE("a contradiction that no class decides is refused, naming files and keys", "[data][tokenizer][files]") {
  const auto with_config = [](const std::string& base, const std::string& config) {
    FolderText files = {{"tokenizer.json", read_file(tokenizer_goldens() / base / "tokenizer.json")}};
    files["tokenizer_config.json"] = config;
    return files;
  };
  const std::pair<FolderText, std::vector<std::string>> bad[] = {
      {with_config("wordpiece", R"({"do_lower_case":false})"),
       {"tokenizer_config.json: do_lower_case is false", "tokenizer.json: normalizer.lowercase is true",
        "set tokenizer_class"}},
      {with_config("wordpiece", R"({"strip_accents":false})"),
       {"strip_accents is false", "tokenizer.json: normalizer"}},
      {with_config("byte_bpe", R"({"add_prefix_space":true})"),
       {"add_prefix_space is true", "tokenizer.json: pre_tokenizer.add_prefix_space is false"}},
      {with_config("wordpiece", R"({"tokenizer_file":"/elsewhere/tokenizer.json"})"),
       {"\"tokenizer_file\" names another file"}},
      {with_config("wordpiece", R"({"truncation_side":"top"})"), {"truncation_side", "neither left nor right"}},
      {with_config("wordpiece", R"({"added_tokens_decoder":{"7":{"content":"[MASK]","special":true}}})"),
       {"added_tokens_decoder gives the token \"[MASK]\" the id 7", "tokenizer.json the id 4"}},
  };
  for (const auto& [files, parts] : bad) {
    const auto [code, sentence] = tokenizer_error(files);
    CHECK(code == ExitCode::run_failed);
    for (const std::string& part : parts) CHECK_THAT(sentence, ContainsSubstring(part));
  }
  // What agrees is read without a class.
  CHECK(tokenizer_of(with_config("wordpiece", R"({"do_lower_case":true})"))->encode("THE") ==
        tokenizer_of(with_config("wordpiece", "{}"))->encode("the"));
}

TEST_CASE("a special token that only a class knows is no part of the vocabulary", "[data][tokenizer][files]") {
  FolderText files;
  for (const char* name : {"tokenizer.json", "tokenizer_config.json"})
    files[name] = read_file(tokenizer_goldens() / "wordpiece" / name);
  const int64_t size = tokenizer_of(files)->size();
  files["tokenizer_config.json"] = R"({"tokenizer_class":"RobertaTokenizer"})";
  const auto tokenizer = tokenizer_of(files);
  CHECK(tokenizer->size() == size);
  const Ids found = tokenizer->encode("<mask>");
  REQUIRE(found.size() == 1);
  CHECK(found.front() >= size);
  CHECK(tokenizer->token(found.front()) == "<mask>");
}
