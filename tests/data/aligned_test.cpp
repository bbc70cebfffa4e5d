// Aligned text files, their vocabularies, and what is refused of both (docs/formats.md section 4).
#include <cstdlib>

#include "data/translation_tokenizer.h"
#include "fixture.h"

using namespace headprune;
using namespace headprune::test;

namespace {

const std::string kEnglish = "one dog sees two dogs\ntwo cats see one dog\nno cat sees a dog\na dog and a cat\n";
const std::string kGerman =
    "ein Hund sieht zwei Hunde\nzwei Katzen sehen einen Hund\nkeine Katze sieht einen Hund\nein Hund und eine Katze\n";
const std::string kSmallVocabulary = "vocabulary: {size: 40}";

/// A folder with train, dev and test that are all the same.
class PairFolder : public TestFolder {
 public:
  explicit PairFolder(const std::string& source = kEnglish, const std::string& target = kGerman) {
    for (const char* part : {"train", "dev", "test"}) {
      write(std::string(part) + ".en", source);
      write(std::string(part) + ".de", target);
    }
  }
};

Dataset load_pairs(const TestFolder& folder, const std::string& options, std::shared_ptr<const Tokenizer> brought = {},
                   uint64_t seed = 1) {
  return source("type: aligned, path: ., source: en, target: de, " + options, folder.path())
      ->load({.seed = seed, .tokenizer = std::move(brought), .kind = DataKind::translation});
}

/// Code and sentence of the error, with the folder cut out.
std::pair<ExitCode, std::string> error_of(const TestFolder& folder, const std::string& options,
                                          std::shared_ptr<const Tokenizer> brought = {}) {
  try {
    load_pairs(folder, options, std::move(brought));
  } catch (const Error& error) {
    std::string sentence = error.what();
    const std::string prefix = folder.path().string() + "/";
    for (size_t at = sentence.find(prefix); at != std::string::npos; at = sentence.find(prefix))
      sentence.erase(at, prefix.size());
    return {error.code(), sentence};
  }
  return {ExitCode::ok, "no error"};
}

const TranslationTokenizer& pieces(const Dataset& data) {
  return dynamic_cast<const TranslationTokenizer&>(*data.tokenizer);
}

/// What a run saves of its tokenizer.
fs::path save(const Dataset& data, const TestFolder& folder, const std::string& name) {
  FolderWriter writer(folder / name);
  data.tokenizer->write(writer);
  writer.commit();
  return folder / name;
}

}  // namespace

TEST_CASE("a pair is what the encoder reads, what the decoder reads and what it predicts", "[data][translation]") {
  const PairFolder folder;
  const Dataset data = load_pairs(folder, kSmallVocabulary);
  CHECK(data.kind == DataKind::translation);
  CHECK(data.labels.empty());
  REQUIRE(data.train->examples.size() == 4);
  const TranslationTokenizer& tokenizer = pieces(data);
  CHECK(tokenizer.joint());
  CHECK(tokenizer.size() == 40);
  const Example& first = data.train->examples[0];
  CHECK(first.reference == "ein Hund sieht zwei Hunde");
  std::vector<int64_t> source = tokenizer.encode("one dog sees two dogs"),
                       target = tokenizer.encode_target(first.reference);
  source.push_back(tokenizer.end());
  CHECK(first.tokens == source);
  CHECK(first.special == std::vector<int64_t>{static_cast<int64_t>(source.size()) - 1});
  std::vector<int64_t> read = target;
  read.insert(read.begin(), tokenizer.start());
  target.push_back(tokenizer.end());
  CHECK(first.decoder_tokens == read);
  CHECK(first.targets == target);
  CHECK(tokenizer.decode_target(first.targets) == first.reference);
  CHECK(data.train == data.score);
  CHECK(data.report->name == "test");
  CHECK(data.warnings.empty());
  CHECK(source.size() > 5);
}

TEST_CASE("CRLF, a byte order mark and a missing last newline change no pair", "[data][translation]") {
  const auto hash = [](const std::string& english, const std::string& german) {
    return load_pairs(PairFolder(english, german), kSmallVocabulary).train->sha256;
  };
  std::string crlf;
  for (const char c : kEnglish) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const std::string plain = hash(kEnglish, kGerman);
  CHECK(hash(crlf, kGerman) == plain);
  CHECK(hash("\xEF\xBB\xBF" + kEnglish, kGerman) == plain);
  CHECK(hash(kEnglish.substr(0, kEnglish.size() - 1), kGerman) == plain);
}

TEST_CASE("the hash of a split covers both sides", "[data][translation]") {
  const PairFolder folder;
  const std::string model = (save(load_pairs(folder, kSmallVocabulary), folder, "model") / "source.spm").string();
  const auto hash = [&](const std::string& english, const std::string& german) {
    return load_pairs(PairFolder(english, german), "vocabulary: {model: " + model + "}").train->sha256;
  };
  const std::string plain = hash("a dog\n", "ein Hund\n");
  CHECK(hash("a dog\n", "ein Hund\n") == plain);
  CHECK(hash("a cat\n", "ein Hund\n") != plain);
  CHECK(hash("a dog\n", "eine Katze\n") != plain);
  CHECK(hash("a dog\n", "ein  Hund\n") != plain);  // the same ids, another reference
}

TEST_CASE("malformed pairs are named by file and line", "[data][translation]") {
  struct Case {
    std::string english, german, message;
  };
  const Case cases[] = {
      {"a\nb\nc\n", "x\ny\n", "train.en has 3 lines and train.de has 2; line i of the one must translate line i of"},
      {"a\nb\n", "x\ny\n\n", "train.en has 2 lines and train.de has 3;"},
      {"a\n\nc\n", "x\ny\nz\n", "train.en:2: the line is empty; remove it here and in train.de"},
      {"a\nb\nc\n", "x\ny\n \t\n", "train.de:3: the line is empty; remove it here and in train.en"},
      {"a\nb\n\n", "x\ny\n\n", "train.en:3: the line is empty;"},
      {"a\nb\xFF\n", "x\ny\n", "train.en:2: invalid UTF-8 at byte 2 of the line"},
      {"a\nb\n", "\xC3\x28\ny\n", "train.de:1: invalid UTF-8 at byte 1 of the line"},
      {"", "", "train.en:1: no lines in the file"}};
  for (const Case& one : cases) {
    INFO(one.message);
    const auto [code, sentence] = error_of(PairFolder(one.english, one.german), kSmallVocabulary);
    CHECK(code == ExitCode::run_failed);
    CHECK_THAT(sentence, ContainsSubstring(one.message));
    CHECK(sentence.starts_with(one.message.substr(0, 8)));
  }
}

TEST_CASE("missing files are named, those that no role reads may be missing", "[data][translation]") {
  const PairFolder folder;
  fs::remove(folder / "test.de");
  const auto [code, sentence] = error_of(folder, kSmallVocabulary);
  CHECK(code == ExitCode::usage);
  CHECK(
      sentence ==
      "test.de: there is no such file for the target side of the test part; name the part's files in data.files.test, "
      "or choose other parts in data.splits");
  CHECK(load_pairs(folder, kSmallVocabulary + ", splits: {report: dev}").report->examples.size() == 4);
  CHECK(load_pairs(folder, kSmallVocabulary + ", files: {test: dev}").report->examples.size() == 4);

  const std::string options = "type: aligned, path: ., source: en, target: de, files: {test: dev}";
  const auto inputs = source(options, folder.path())->inputs();
  REQUIRE(inputs.size() == 6);
  CHECK(inputs[0].role == "data.train.source");
  CHECK(inputs[1].role == "data.train.target");
  CHECK(inputs[5].role == "data.test.target");
  CHECK(inputs[5].path == folder / "dev.de");
}

TEST_CASE("pairs longer than max_length are left out of the train part and refused elsewhere", "[data][translation]") {
  const PairFolder folder;
  save(load_pairs(folder, kSmallVocabulary), folder, "model");
  const std::string longer(200, 'a');
  folder.write("train.en", kEnglish + longer + "\na cat\n");
  folder.write("train.de", kGerman + "x\n" + longer + "\n");
  const std::string options = "vocabulary: {model: model/source.spm}, max_length: 60";
  const Dataset data = load_pairs(folder, options);
  CHECK(data.train->examples.size() == 4);
  REQUIRE(data.warnings.size() == 1);
  CHECK(data.warnings[0] == "2 of 6 train pairs are longer than data.max_length 60 on one side and were left out");

  folder.write("dev.en", "a dog\na cat\n");
  folder.write("dev.de", "ein Hund\n" + longer + "\n");
  const auto [code, sentence] = error_of(folder, options);
  CHECK(code == ExitCode::run_failed);
  const size_t tokens = pieces(data).encode_target(longer).size() + 1;
  CHECK(sentence ==
        fmt::format("dev.de:2: {} tokens are more than data.max_length 60; only pairs of the train part are "
                    "left out: shorten the line, or raise data.max_length",
                    tokens));
  const auto [all_code, all] = error_of(PairFolder(), kSmallVocabulary + ", max_length: 2");
  CHECK(all_code == ExitCode::run_failed);
  CHECK(all == "all 4 pairs of the train part are longer than data.max_length 2; raise it");
}

TEST_CASE("the vocabulary is learnt from the pairs that training reads", "[data][translation]") {
  const PairFolder folder;
  folder.write("train.en", kEnglish + "zebra quiz\n");
  folder.write("dev.en", "xylophone\na\nb\nc\n");
  const Dataset twice = load_pairs(PairFolder(), kSmallVocabulary);
  CHECK(pieces(twice).same_models(pieces(load_pairs(PairFolder(), kSmallVocabulary))));
  folder.write("train.de", kGerman + "Zebra Quiz\n");
  CHECK_FALSE(pieces(load_pairs(folder, kSmallVocabulary)).same_models(pieces(twice)));
  // The sample of four pairs that leaves the fifth one out gives the vocabulary of these four.
  bool left_out = false;
  for (uint64_t seed = 1; seed < 20 && !left_out; ++seed) {
    const Dataset limited = load_pairs(folder, kSmallVocabulary + ", limit: {train: 4}", {}, seed);
    left_out = limited.train->examples.back().reference != "Zebra Quiz";
    CHECK(pieces(limited).same_models(pieces(twice)) == left_out);
  }
  CHECK(left_out);
  const Dataset separate = load_pairs(PairFolder(), "vocabulary: {size: 22, joint: false}");
  CHECK_FALSE(pieces(separate).joint());
  CHECK(pieces(separate).size() == 22);
  CHECK(pieces(separate).target_size() == 22);
}

TEST_CASE("a vocabulary larger than the text allows is refused with the largest size", "[data][translation]") {
  const auto [code, sentence] = error_of(PairFolder(), "vocabulary: {size: 4000}");
  CHECK(code == ExitCode::usage);
  CHECK_THAT(sentence,
             ContainsSubstring("data.vocabulary.size 4000 is more than the training texts allow; the largest"));
  CHECK(error_of(PairFolder(), "vocabulary: {size: 10}").first == ExitCode::usage);
}

TEST_CASE("files of a vocabulary are read, and listed among the inputs", "[data][translation]") {
  const PairFolder folder;
  const Dataset learnt = load_pairs(folder, "vocabulary: {size: 24, joint: false}");
  const fs::path saved = save(learnt, folder, "model");
  const std::string both = "vocabulary: {source_model: model/source.spm, target_model: model/target.spm}";
  const Dataset again = load_pairs(folder, both);
  CHECK(again.train->sha256 == learnt.train->sha256);
  CHECK(pieces(load_pairs(folder, "vocabulary: {model: model/source.spm}")).joint());
  const auto inputs = source("type: aligned, path: ., source: en, target: de, " + both, folder.path())->inputs();
  REQUIRE(inputs.size() == 8);
  CHECK(inputs[6].role == "data.vocabulary.source_model");
  CHECK(inputs[6].path == saved / "source.spm");
  CHECK(inputs[7].role == "data.vocabulary.target_model");
  folder.write("damaged.model", "x");
  const auto [code, sentence] = error_of(folder, "vocabulary: {model: damaged.model}");
  CHECK(code == ExitCode::run_failed);
  CHECK_THAT(sentence, ContainsSubstring("damaged.model: not a SentencePiece model"));
}

TEST_CASE("options that contradict each other are refused", "[data][translation]") {
  const PairFolder folder;
  save(load_pairs(folder, kSmallVocabulary), folder, "model");
  const std::pair<std::string, std::string> bad[] = {
      {"vocabulary: {model: model/source.spm, size: 40}", "data.vocabulary.size: says how a vocabulary is learnt"},
      {"vocabulary: {model: model/source.spm, joint: true}", "data.vocabulary.joint: says how"},
      {"vocabulary: {model: model/source.spm, type: bpe}", "data.vocabulary.type: says how"},
      {"vocabulary: {model: model/source.spm, seed: 1}", "data.vocabulary.seed: says how"},
      {"vocabulary: {model: model/source.spm, target_model: model/target.spm}", "model is the file of both languages"},
      {"vocabulary: {source_model: model/source.spm}", "data.vocabulary.source_model: needs target_model beside it"},
      {"vocabulary: {target_model: model/source.spm}", "data.vocabulary.target_model: needs source_model beside it"},
      {"vocabulary: {model: none.spm}", "data.vocabulary.model: "},
      {"vocabulary: {seed: 2}", "data.vocabulary.seed: draws the sample"},
      {"vocabulary: {type: word}", "data.vocabulary.type: "},
      {"vocabulary: {size: 4}", "data.vocabulary.size: "}};
  for (const auto& [options, message] : bad) {
    INFO(options);
    CHECK_THROWS_WITH(load_pairs(folder, options), ContainsSubstring(message));
  }
  CHECK_THROWS_WITH(source("type: aligned, path: ., source: en, target: en", folder.path()),
                    ContainsSubstring("is the language of the source"));
  CHECK_THROWS_WITH(source("type: aligned, path: .", folder.path()), ContainsSubstring("data.target: missing"));
}

TEST_CASE("a loaded model brings its vocabulary", "[data][translation]") {
  const PairFolder folder;
  const auto brought = read_tokenizer(save(load_pairs(folder, kSmallVocabulary), folder, "model"));
  const Dataset data = load_pairs(folder, "vocabulary: {size: 30}", brought);
  CHECK(data.tokenizer == brought);
  CHECK(load_pairs(folder, "vocabulary: {model: model/source.spm}", brought).tokenizer == brought);

  save(load_pairs(folder, "vocabulary: {size: 30}"), folder, "other");
  const auto [code, sentence] = error_of(folder, "vocabulary: {model: other/source.spm}", brought);
  CHECK(code == ExitCode::usage);
  CHECK(sentence ==
        "other/source.spm is a SentencePiece file of another run: the loaded model brings model/source.spm and "
        "model/target.spm, which have other bytes; leave data.vocabulary out");

  folder.write("words/vocabulary.json", R"({"unit": "word", "tokens": ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a"]})");
  const auto [word_code, words] = error_of(folder, kSmallVocabulary, read_tokenizer(folder / "words"));
  CHECK(word_code == ExitCode::usage);
  CHECK_THAT(words, ContainsSubstring("the loaded model's tokenizer is not one for translation"));
}

TEST_CASE("only aligned texts give translations, and nothing else", "[data][translation]") {
  const PairFolder folder;
  folder.write("t.tsv", "a\t1\nb\t0\n");
  const auto aligned = source("type: aligned, path: ., source: en, target: de", folder.path());
  CHECK(aligned->gives(DataKind::translation));
  for (const DataKind kind : {DataKind::labelled, DataKind::numbered, DataKind::language})
    CHECK_FALSE(aligned->gives(kind));
  for (const char* other : {"type: tsv, path: t.tsv", "type: text, path: t.tsv", "type: synthetic"})
    CHECK_FALSE(source(other, folder.path())->gives(DataKind::translation));
}

TEST_CASE("pairs that are no translations are warned about, and one translation for all refused",
          "[data][translation]") {
  const Dataset data = load_pairs(PairFolder(kEnglish, kEnglish), kSmallVocabulary);
  CHECK_THAT(data.warnings.front(), ContainsSubstring("4 of 4 train pairs have the same text on both sides"));
  CHECK(load_pairs(PairFolder(), kSmallVocabulary).summaries.front().targets.has_value());
  const auto [code, sentence] =
      error_of(PairFolder(kEnglish, "ein Hund\nein Hund\nein Hund\nein Hund\n"), "vocabulary: {size: 30}");
  CHECK(code == ExitCode::run_failed);
  CHECK_THAT(sentence,
             ContainsSubstring("every one of the 4 examples") && ContainsSubstring("has the translation 'ein Hund'"));
}

TEST_CASE("Multi30k is read with both kinds of vocabulary", "[data][translation]") {
  const char* data = std::getenv("HEADPRUNE_TEST_DATA");
  if (!data) {
    WARN("not run: HEADPRUNE_TEST_DATA is not set to a folder with multi30k-en-de");
    return;
  }
  const std::string options = fmt::format(
      "type: aligned, path: {}/multi30k-en-de, source: en, target: de, files: {{dev: val, test: test_2016_flickr}}",
      data);
  for (const std::string type : {"bpe", "unigram"}) {
    const auto from = source(options + ", vocabulary: {type: " + type + "}");
    const Dataset set = from->load({.seed = 1, .tokenizer = nullptr, .kind = DataKind::translation});
    CHECK(set.train->examples.size() == 29000);
    CHECK(set.select->examples.size() == 1014);
    CHECK(set.report->examples.size() == 1000);
    CHECK(set.tokenizer->size() == 8000);
    for (const auto& split : {set.train, set.report}) {
      int64_t wrong = 0;
      for (const Example& example : split->examples)
        wrong += pieces(set).decode_target(example.targets) != example.reference;
      // Normalization and characters without pieces.
      CHECK(wrong < static_cast<int64_t>(split->examples.size()) / 20);
    }
  }
}
