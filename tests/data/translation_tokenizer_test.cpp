// Ids and texts equal to those of SentencePiece in Python and of transformers' MarianTokenizer:
// tests/golden/make_sentencepiece.py made what is compared here.
#include "data/translation_tokenizer.h"

#include "core/hash.h"
#include "support/catch_torch.h"
#include "tokenizer_fixture.h"

using namespace headprune;
using namespace headprune::test;

namespace {

using Ids = std::vector<int64_t>;
using TranslationPtr = std::shared_ptr<const TranslationTokenizer>;

fs::path goldens() { return fs::path(HEADPRUNE_SOURCE_DIR) / "tests/golden/sentencepiece"; }

const Json& strings() {
  static const Json json = parse_json(read_file(goldens() / "strings.json"), "strings.json");
  return json;
}

FolderText marian_files() {
  FolderText files;
  for (const auto& entry : fs::directory_iterator(goldens() / "marian"))
    files[entry.path().filename().string()] = read_file(entry.path());
  return files;
}

/// The files of the Marian folder that say nothing of Marian.
FolderText model_files() {
  FolderText files = marian_files();
  files.erase("vocab.json");
  files.erase("tokenizer_config.json");
  return files;
}

TranslationPtr translation(const FolderText& files) {
  auto tokenizer = std::dynamic_pointer_cast<const TranslationTokenizer>(tokenizer_of(files));
  REQUIRE(tokenizer);
  return tokenizer;
}

/// Everything that a case holds, by the two tokenizers.
std::map<std::string, Json> values_of(const TranslationTokenizer& library, const TranslationTokenizer& marian,
                                      const std::string& text) {
  // The library decodes the source side as well, which a translation does not need.
  const SentencePieces source(library.files().bytes(kSourceModel), "source");
  std::map<std::string, Json> values;
  values["source"] = library.encode(text);
  values["target"] = library.encode_target(text);
  values["marian_source"] = marian.encode(text);
  values["marian_target"] = marian.encode_target(text);
  values["source_text"] = source.decode(library.encode(text));
  values["target_text"] = library.decode_target(library.encode_target(text));
  values["marian_text"] = marian.decode_target(marian.encode_target(text));
  return values;
}

std::vector<std::string> corpus(const std::string& language) {
  return strings()["corpus"][language].get<std::vector<std::string>>();
}

SubwordOptions learnt_options(bool joint, SubwordType type = SubwordType::bpe) {
  return {.size = type == SubwordType::bpe ? strings()["learnt"]["size"].get<int64_t>() : 140,
          .type = type,
          .joint = joint};
}

}  // namespace

TEST_CASE("texts chosen by hand have the ids and decodings of the libraries", "[data][translation]") {
  const TranslationPtr library = translation(model_files()), marian = translation(marian_files());
  REQUIRE(strings()["cases"].size() > 60);
  for (const Json& one : strings()["cases"])
    for (const auto& [key, value] : values_of(*library, *marian, one["text"].get<std::string>())) {
      INFO(key << ": " << one["text"].dump(-1, ' ', true) << " " << value.dump(-1, ' ', true));
      CHECK(value == one[key]);
    }
}

TEST_CASE("random texts have the ids and decodings of the libraries", "[data][translation]") {
  const TranslationPtr library = translation(model_files()), marian = translation(marian_files());
  const Json& random = strings()["random"];
  REQUIRE(random["texts"].size() == 400);
  for (size_t i = 0; i < random["texts"].size(); ++i)
    for (const auto& [key, value] : values_of(*library, *marian, random["texts"][i].get<std::string>())) {
      INFO(key << ": " << random["texts"][i].dump(-1, ' ', true) << " " << value.dump(-1, ' ', true));
      CHECK(sha256(value.dump()).substr(0, 8) == random[key][i].get<std::string>());
    }
}

TEST_CASE("any ids decode as the libraries decode them", "[data][translation]") {
  const TranslationPtr library = translation(model_files()), marian = translation(marian_files());
  for (const auto& [key, tokenizer] : {std::pair("ids", library), std::pair("marian_ids", marian)}) {
    REQUIRE(strings()[key].size() == 120);
    for (const Json& one : strings()[key]) {
      INFO(key << " " << one.dump(-1, ' ', true));
      CHECK(tokenizer->decode_target(one["ids"].get<Ids>()) == one["text"].get<std::string>());
    }
    CHECK_THROWS_AS(tokenizer->decode_target({tokenizer->target_size()}), std::out_of_range);
    CHECK_THROWS_AS(tokenizer->decode_target({-1}), std::out_of_range);
  }
}

TEST_CASE("a learnt vocabulary gives the ids that Python's SentencePiece learns", "[data][translation]") {
  for (const bool joint : {true, false}) {
    const auto tokenizer = TranslationTokenizer::learn(corpus("en"), corpus("de"), learnt_options(joint));
    const Json& golden = strings()["learnt"][joint ? "joint" : "separate"];
    for (size_t i = 0; i < strings()["cases"].size(); ++i) {
      const auto text = strings()["cases"][i]["text"].get<std::string>();
      INFO(joint << " " << strings()["cases"][i]["text"].dump(-1, ' ', true));
      CHECK(tokenizer->encode(text) == golden["source"][i].get<Ids>());
      CHECK(tokenizer->encode_target(text) == golden["target"][i].get<Ids>());
    }
    CHECK(tokenizer->joint() == joint);
    CHECK(tokenizer->size() == strings()["learnt"]["size"].get<int64_t>());
    CHECK(tokenizer->target_size() == tokenizer->size());
  }
}

TEST_CASE("learning twice gives the same bytes, a sample depends on its seed", "[data][translation]") {
  for (const SubwordType type : {SubwordType::bpe, SubwordType::unigram}) {
    const SubwordOptions options = learnt_options(true, type);
    const auto model_of = [&](const SubwordOptions& with) {
      return TranslationTokenizer::learn(corpus("en"), corpus("de"), with)->files().bytes(kSourceModel);
    };
    CHECK(model_of(options) == model_of(options));
    SubwordOptions sampled = options, other = options;
    sampled.sample = other.sample = 150;
    other.seed = 2;
    CHECK(model_of(sampled) == model_of(sampled));
    CHECK(model_of(sampled) != model_of(other));
  }
}

TEST_CASE("special ids: a source ends, a target starts and ends", "[data][translation]") {
  const auto joint = TranslationTokenizer::learn(corpus("en"), corpus("de"), learnt_options(true));
  CHECK(joint->form(1).before.empty());
  CHECK(joint->form(1).after == Ids{3});
  CHECK(joint->start() == 2);
  CHECK(joint->end() == 3);
  CHECK(joint->unknown() == 1);
  CHECK(joint->target_unknown() == 1);
  CHECK(joint->token(0) == "<pad>");
  CHECK(joint->target_token(2) == "<s>");
  Ids ids = joint->encode_target("Ein Mann liest.");
  ids.insert(ids.begin(), joint->start());
  ids.push_back(joint->end());
  CHECK(joint->decode_target(ids) == "Ein Mann liest.");
  CHECK_FALSE(joint->unit());
  CHECK_THROWS_AS(joint->token(joint->size()), std::out_of_range);

  // source.spm has no <s> and its </s> is 0; target.spm has <unk> 0, <s> 1, </s> 2, <pad> 3.
  const TranslationPtr library = translation(model_files());
  CHECK_FALSE(library->joint());
  CHECK(library->size() == 160);
  CHECK(library->target_size() == 220);
  CHECK(library->form(1).after == Ids{0});
  CHECK(library->start() == 1);
  CHECK(library->end() == 2);
  CHECK(library->unknown() == 1);
  CHECK(library->target_unknown() == 0);

  const TranslationPtr marian = translation(marian_files());
  CHECK(marian->joint());
  CHECK(marian->size() == marian->target_size());
  CHECK(marian->start() == marian->size() - 1);
  CHECK(marian->token(marian->start()) == "<pad>");
  CHECK(marian->end() == 0);
  CHECK(marian->form(1).after == Ids{0});
  CHECK(marian->unknown() == 1);
}

TEST_CASE("a written folder holds the files that were read and reads back the same", "[data][translation]") {
  const auto learnt = TranslationTokenizer::learn(corpus("en"), corpus("de"), learnt_options(false));
  const TestFolder folder;
  {
    FolderWriter writer(folder / "model");
    learnt->write(writer);
    writer.commit();
  }
  CHECK(has_tokenizer(folder / "model"));
  CHECK(tokenizer_files(folder / "model").size() == 2);
  const auto again = std::dynamic_pointer_cast<const TranslationTokenizer>(read_tokenizer(folder / "model"));
  REQUIRE(again);
  CHECK(again->same_models(*learnt));
  CHECK(again->encode("A man sees everything.") == learnt->encode("A man sees everything."));
  CHECK_FALSE(translation(model_files())->same_models(*learnt));

  FolderWriter writer(folder / "marian");
  translation(marian_files())->write(writer);
  writer.commit();
  for (const auto& [name, bytes] : marian_files()) CHECK(read_file(folder / "marian" / name) == bytes);
}

TEST_CASE("one SentencePiece file may serve both sides", "[data][translation]") {
  const fs::path model = goldens() / "marian/target.spm";
  const auto tokenizer = TranslationTokenizer::from_models(model, model);
  CHECK(tokenizer->joint());
  CHECK(tokenizer->encode("Ein Mann") == tokenizer->encode_target("Ein Mann"));
  try {
    TranslationTokenizer::from_models("none.model", "none.model");
    FAIL("read a file that is not there");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::usage);
  }
}

TEST_CASE("damaged and unsupported translation tokenizers are refused in one sentence", "[data][translation]") {
  const auto with = [](FolderText files, const std::string& name, const std::string& bytes) {
    files[name] = bytes;
    return files;
  };
  const auto config = [&](const std::string& json) { return with(marian_files(), "tokenizer_config.json", json); };
  FolderText alone = model_files(), other = model_files();
  alone.erase("target.spm");
  other.erase("source.spm");
  // target.spm cut in the middle of its pieces.
  const std::string cut = model_files().at("target.spm").substr(0, 1500);
  const std::pair<FolderText, std::string> bad[] = {
      {alone, "source.spm is there without target.spm; copy both into the folder"},
      {other, "target.spm is there without source.spm; copy both into the folder"},
      {with(model_files(), "source.spm", ""), "source.spm: not a SentencePiece model, or a damaged one"},
      {with(model_files(), "source.spm", "version https://git-lfs.github.com/spec/v1\n"), "source.spm: not a Sentence"},
      {with(model_files(), "target.spm", cut), "target.spm: not a SentencePiece model"},
      {with(model_files(), "target.spm", model_files().at("source.spm")), "target.spm: the model has neither <s> nor"},
      {with(marian_files(), "vocab.json", "[]"), "vocab.json: expected a JSON object"},
      {with(marian_files(), "vocab.json", R"({"</s>": 0, "<unk>": 1})"),
       "vocab.json: the special token pad_token \"<pad>\" is not"},
      {with(marian_files(), "vocab.json", R"({"</s>": 0, "<unk>": 1, "<pad>": 3})"), "vocab.json: "},
      {config(R"({"tokenizer_class": "T5Tokenizer"})"), R"("T5Tokenizer", which with source.spm)"},
      {config(R"({"separate_vocabs": true})"), R"("separate_vocabs": true is not supported)"},
      {config(R"({"sp_model_kwargs": {"enable_sampling": true}})"), R"("sp_model_kwargs" is not supported)"},
      {config(R"({"unk_token": null})"), R"("unk_token" is null)"},
      {with(marian_files(), "added_tokens.json", R"({"new": 999})"), R"(the added token "new" of id 999 is not)"}};
  for (const auto& [files, message] : bad) {
    INFO(message);
    const auto [code, sentence] = tokenizer_error(files);
    CHECK(code == ExitCode::run_failed);
    CHECK_THAT(sentence, ContainsSubstring(message));
  }
}

TEST_CASE("clean_up_tokenization_spaces is done where the folder asks for it", "[data][translation]") {
  FolderText files = marian_files();
  files["tokenizer_config.json"] = R"({"clean_up_tokenization_spaces": true})";
  const TranslationPtr plain = translation(marian_files()), cleaned = translation(files);
  const Ids ids = plain->encode_target("Der Lehrer . liest !");
  CHECK(plain->decode_target(ids) == "Der Lehrer . liest !");
  CHECK(cleaned->decode_target(ids) == "Der Lehrer. liest!");
}

TEST_CASE("a vocabulary that the texts cannot give is refused with the size they can", "[data][translation]") {
  const auto learn_error = [](const std::vector<std::string>& texts, const SubwordOptions& options) {
    try {
      TranslationTokenizer::learn(texts, texts, options);
    } catch (const Error& error) {
      return std::pair(error.code(), std::string(error.what()));
    }
    return std::pair(ExitCode::ok, std::string());
  };
  for (const SubwordType type : {SubwordType::bpe, SubwordType::unigram})
    for (const bool joint : {true, false}) {
      SubwordOptions options{.size = 5000, .type = type, .joint = joint};
      const auto [code, sentence] = learn_error(corpus("en"), options);
      CHECK(code == ExitCode::usage);
      const std::string of = joint ? "the training texts" : "the source side's training texts";
      CHECK_THAT(sentence, ContainsSubstring("data.vocabulary.size 5000 is more than " + of +
                                             " allow; the largest possible is "));
      // The sentence keeps its promise.
      options.size = std::stoll(sentence.substr(sentence.rfind(' ') + 1));
      CHECK(learn_error(corpus("en"), options).first == ExitCode::ok);
      options.size = 10;
      const auto [small_code, small] = learn_error(corpus("en"), options);
      CHECK(small_code == ExitCode::usage);
      CHECK_THAT(small, ContainsSubstring("data.vocabulary.size 10 is too small: the characters of " + of));
      // The library would end the process here.
      const auto [no_code, nothing] = learn_error({"\u2581 \u200b", "...", "a\u2585"}, options);
      CHECK(no_code == ExitCode::usage);
      CHECK_THAT(nothing, ContainsSubstring("not one letter or number in it"));
    }
}
