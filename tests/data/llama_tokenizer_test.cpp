// SentencePiece tokenizers of Llama 2's kind: tests/golden/make_llama_tokenizers.py made what is compared here.
#include "core/hash.h"
#include "data/piece_tokenizer.h"
#include "data/sequence.h"
#include "support/catch_torch.h"
#include "tokenizer_fixture.h"

using namespace headprune;
using namespace headprune::test;
using Ids = std::vector<int64_t>;

namespace {

std::string short_hash(const Ids& ids) { return sha256(fmt::format("{}\n", fmt::join(ids, " "))).substr(0, 8); }

FolderText llama_files(std::initializer_list<const char*> names) {
  FolderText files;
  for (const char* name : names) files[name] = read_file(tokenizer_goldens() / "llama" / name);
  return files;
}

/// tokenizer.json alone, with members changed.
FolderText edited(const std::map<std::string, Json>& set) {
  FolderText files = llama_files({"tokenizer.json", "tokenizer_config.json"});
  Json json = parse_json(files["tokenizer.json"], "tokenizer.json");
  for (const auto& [pointer, value] : set) json[Json::json_pointer(pointer)] = value;
  files["tokenizer.json"] = json.dump();
  return files;
}

/// tokenizer.model alone.
FolderText model_files(Json config) {
  FolderText files = llama_files({"tokenizer.model"});
  config["tokenizer_class"] = "LlamaTokenizer";
  files["tokenizer_config.json"] = config.dump();
  return files;
}

Json metaspace(const std::string& scheme) {
  return {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", scheme}, {"split", false}};
}

/// The forms of make_llama_tokenizers.py.
std::map<std::string, FolderText> forms() {
  const Json replace = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}};
  std::map<std::string, FolderText> found = {
      {"legacy", edited({})},
      {"replace", edited({{"/normalizer/normalizers", Json::array({replace})}})},
      {"model", model_files(Json::object())},
      {"model_new", model_files({{"legacy", false}})},
      {"model_bare", model_files({{"add_prefix_space", false}})},
  };
  for (const char* scheme : {"first", "always", "never"})
    found[scheme] = edited({{"/normalizer", nullptr}, {"/pre_tokenizer", metaspace(scheme)}});
  return found;
}

}  // namespace

TEST_CASE("pieces are those of the library that a folder's form stands for", "[data][tokenizer][llama]") {
  const Json golden = golden_json("llama.json");
  const auto all = forms();
  REQUIRE(golden["ids"].size() == all.size());
  REQUIRE(golden["texts"].size() > 600);
  for (const auto& [name, files] : all) {
    const auto tokenizer = tokenizer_of(files);
    CHECK(tokenizer->unknown() == -1);
    CHECK(tokenizer->begins_with_space() == (name != "replace" && name != "never" && name != "model_bare"));
    int64_t wrong = 0;
    for (size_t i = 0; i < golden["texts"].size(); ++i) {
      const auto text = golden["texts"][i].get<std::string>();
      if (short_hash(tokenizer->encode(text)) == golden["ids"][name][i].get<std::string>()) continue;
      if (++wrong <= 5) UNSCOPED_INFO(golden["texts"][i].dump(-1, ' ', true));
    }
    INFO(name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("a tokenizer.model alone gives the ids of SentencePiece", "[data][tokenizer][llama]") {
  const Json golden = golden_json("llama.json");
  int64_t compared = 0;
  for (const Json& config : {Json::object(), Json{{"legacy", false}}, Json{{"add_prefix_space", nullptr}}}) {
    const auto tokenizer = tokenizer_of(model_files(config));
    for (size_t i = 0; i < golden["texts"].size(); ++i) {
      if (golden["sentencepiece"][i].is_null()) continue;  // a special token is not found by the library
      ++compared;
      INFO(golden["texts"][i].dump(-1, ' ', true));
      CHECK(short_hash(tokenizer->encode(golden["texts"][i].get<std::string>())) ==
            golden["sentencepiece"][i].get<std::string>());
    }
  }
  CHECK(compared > 1200);
}

TEST_CASE("pieces stand where the library says, and give back the text", "[data][tokenizer][llama]") {
  const Json golden = golden_json("llama.json");
  const auto all = forms();
  for (const std::string name : {"legacy", "first"}) {
    const auto tokenizer = tokenizer_of(all.at(name));
    int64_t placed = 0;
    for (size_t i = 0; i < golden["offsets"][name].size(); ++i) {
      const auto text = golden["texts"][i].get<std::string>();
      INFO(name << ": " << golden["texts"][i].dump(-1, ' ', true));
      const auto found = tokenizer->locate(text);
      if (!found) continue;  // rather nothing than a wrong place
      placed += text.empty() ? 0 : 1;
      const auto wanted = golden["offsets"][name][i].get<std::vector<std::array<size_t, 2>>>();
      REQUIRE(found->size() == wanted.size());
      for (size_t t = 0; t < wanted.size(); ++t) {
        // The library gives whole characters to each of their bytes, and the first one to a space that is not there.
        TextSpan span = (*found)[t];
        if (t == 0 && span == TextSpan{0, 0}) continue;
        const auto inside = [&](size_t at) { return at < text.size() && (text[at] & 0xC0) == 0x80; };
        while (inside(span.begin)) --span.begin;
        while (inside(span.end)) ++span.end;
        CHECK(span == TextSpan{wanted[t][0], wanted[t][1]});
      }
    }
    CHECK(placed >= 20);
  }
  const auto tokenizer = tokenizer_of(all.at("legacy"));
  for (size_t i = 0; i < golden["decoded"].size(); ++i) {
    INFO(golden["texts"][i].dump(-1, ' ', true));
    std::string text = tokenizer->decode(tokenizer->encode(golden["texts"][i].get<std::string>()));
    if (text.starts_with(' ')) text.erase(0, 1);
    CHECK(text == golden["decoded"][i].get<std::string>());
  }
}

TEST_CASE("bytes of a character stand inside it", "[data][tokenizer][llama]") {
  const auto tokenizer = tokenizer_of(edited({}));
  const auto spans = tokenizer->locate("A \u4e16");
  REQUIRE(spans);
  const size_t count = spans->size();
  REQUIRE(count >= 4);
  for (size_t i = 0; i < 3; ++i) CHECK((*spans)[count - 3 + i] == TextSpan{2 + i, 3 + i});
  CHECK(tokenizer->bytes_of(tokenizer->encode("\u4e16").back()) == "\x96");
}

TEST_CASE("a form of pieces that is none of Llama's is refused with what is supported", "[data][tokenizer][llama]") {
  Json split = metaspace("first"), older = metaspace("always"), odd = metaspace("sometimes");
  split["split"] = true;
  older["add_prefix_space"] = true;
  const std::pair<FolderText, std::string> bad[] = {
      {edited({{"/normalizer", nullptr}}), "neither \"normalizer\" and \"pre_tokenizer\""},
      {edited({{"/pre_tokenizer", metaspace("first")}}), "both \"normalizer\" and \"pre_tokenizer\""},
      {edited({{"/normalizer/normalizers/0/prepend", "_"}}), "\"prepend\":\"_\""},
      {edited({{"/normalizer", {{"type", "NFC"}}}}), "{\"type\":\"NFC\"} is not supported"},
      {edited({{"/normalizer", nullptr}, {"/pre_tokenizer", split}}), "\"split\":true"},
      {edited({{"/normalizer", nullptr}, {"/pre_tokenizer", older}}), "\"add_prefix_space\":true"},
      {edited({{"/normalizer", nullptr}, {"/pre_tokenizer", odd}}), "none of first, always, never"},
      {edited({{"/model/ignore_merges", true}}), "model.ignore_merges"},
      {edited({{"/model/dropout", 0.1}}), "model.dropout"},
      {edited({{"/model/vocab/<0x41>", nullptr}}), "model.vocab[\"<0x41>\"]"},
  };
  for (const auto& [files, part] : bad) {
    const auto [code, sentence] = tokenizer_error(files);
    CHECK(code == ExitCode::run_failed);
    CHECK_THAT(sentence, ContainsSubstring(part));
  }
  FolderText files = edited({});
  const std::string spelled = "\"<0x41>\"";
  files["tokenizer.json"].replace(files["tokenizer.json"].find(spelled), spelled.size(), "\"<0x4X>\"");
  CHECK_THAT(tokenizer_error(files).second, ContainsSubstring("\"<0x41>\" is not in the vocabulary"));
}

TEST_CASE("a tokenizer.json that LlamaTokenizer passes over must be its tokenizer.model", "[data][tokenizer][llama]") {
  FolderText files = llama_files({"tokenizer.json", "tokenizer.model", "tokenizer_config.json"});
  files["tokenizer_config.json"] = R"({"tokenizer_class":"LlamaTokenizer","add_prefix_space":true})";
  CHECK(tokenizer_error(files).first == ExitCode::ok);
  Json json = parse_json(files["tokenizer.json"], "tokenizer.json");
  json["model"]["vocab"]["another"] = json["model"]["vocab"].size();
  files["tokenizer.json"] = json.dump();
  CHECK_THAT(tokenizer_error(files).second, ContainsSubstring("add_prefix_space") && ContainsSubstring("other pieces"));
}

TEST_CASE("a tokenizer.model that is not Llama's is refused", "[data][tokenizer][llama]") {
  const auto sentence = [](FolderText files) { return tokenizer_error(files).second; };
  FolderText nobody = llama_files({"tokenizer.model"});
  CHECK_THAT(sentence(nobody), ContainsSubstring("no file says whose tokenizer.model this is"));
  nobody["config.json"] = R"({"model_type":"gpt2"})";
  CHECK_THAT(sentence(nobody), ContainsSubstring("GPT2Tokenizer") && ContainsSubstring("LlamaTokenizer"));
  FolderText damaged = model_files(Json::object());
  damaged["tokenizer.model"] = "IQ== 0\nIg== 1\n";  // tiktoken's, under the same name
  CHECK_THAT(sentence(damaged), ContainsSubstring("tokenizer.model: not a SentencePiece model"));
  // Fields of protobuf that stand again, later, count: normalizer_spec {remove_extra_whitespaces, add_dummy_prefix}.
  FolderText strips = model_files(Json::object()), bare = strips;
  strips["tokenizer.model"] += std::string("\x1A\x02\x20\x01", 4);
  CHECK_THAT(sentence(strips), ContainsSubstring("removes extra spaces"));
  bare["tokenizer.model"] += std::string("\x1A\x02\x18\x00", 4);
  CHECK_THAT(sentence(bare), ContainsSubstring("\"add_prefix_space\": false"));
  bare["tokenizer_config.json"] = R"({"tokenizer_class":"LlamaTokenizer","add_prefix_space":false})";
  CHECK(sentence(bare) == "no error");
  FolderText suffix = model_files(Json::object());
  suffix["tokenizer.model"] += std::string("\x12\x03\xC0\x01\x01", 5);  // trainer_spec {treat_whitespace_as_suffix}
  CHECK_THAT(sentence(suffix), ContainsSubstring("spaces behind words"));
  FolderText user = model_files(Json::object());
  user["tokenizer.model"] +=
      std::string("\x0A\x0C\x0A\x03<x>\x15\x00\x00\x00\x00\x18\x04", 14);  // pieces {"<x>", type 4}
  CHECK_THAT(sentence(user), ContainsSubstring("the piece \"<x>\" is a user-defined one"));
  CHECK_THAT(sentence(model_files({{"sp_model_kwargs", {{"alpha", 0.1}}}})), ContainsSubstring("sp_model_kwargs"));
}
