// Tokenizers of model folders: rules one at a time, and every file that is refused.
#include "data/tokenizer.h"

#include "data/bert_text.h"
#include "data/byte_bpe.h"
#include "support/catch_torch.h"
#include "tokenizer_fixture.h"

using namespace headprune;
using namespace headprune::test;

namespace {

using Ids = std::vector<int64_t>;

const std::string kVocabTxt = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##want\n##ed\nwant\n,\ne\nE\n中\n##a\n";

/// A whole tokenizer.json of WordPiece, with parts replaced: {"/normalizer/lowercase", false}.
std::string wordpiece_json(const std::vector<std::pair<std::string, Json>>& changes = {}) {
  Json json = Json::parse(R"({"version":"1.0","truncation":null,"padding":null,
    "added_tokens":[{"id":2,"content":"[CLS]","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}],
    "normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true},
    "pre_tokenizer":{"type":"BertPreTokenizer"},
    "post_processor":{"type":"BertProcessing","sep":["[SEP]",3],"cls":["[CLS]",2]},"decoder":null,
    "model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":5,
      "vocab":{"[PAD]":0,"[UNK]":1,"[CLS]":2,"[SEP]":3,"a":4,"##a":5,"b":6}}})");
  for (const auto& [pointer, value] : changes) json[Json::json_pointer(pointer)] = value;
  return json.dump();
}

/// ByteLevel behind another splitter.
Json splitters(const Json& first, bool use_regex) {
  const Json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", use_regex}};
  return {{"type", "Sequence"}, {"pretokenizers", Json::array({first, bytes})}};
}

Json split_by(const char* pattern) {
  return {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
}

/// Byte-level BPE: the 256 bytes, then "ab" and "abab", then <|endoftext|>.
Json bpe_vocabulary() {
  Json vocabulary = Json::object();
  for (int byte = 0; byte < 256; ++byte) vocabulary[gpt2_byte_name(static_cast<unsigned char>(byte))] = byte;
  vocabulary["ab"] = 256;
  vocabulary["abab"] = 257;
  vocabulary["<|endoftext|>"] = 258;
  return vocabulary;
}

std::string bpe_json(const std::vector<std::pair<std::string, Json>>& changes = {}) {
  Json json = Json::parse(R"({"version":"1.0","added_tokens":[],"normalizer":null,
    "pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true},
    "post_processor":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":false},"decoder":{"type":"ByteLevel"},
    "model":{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":"","end_of_word_suffix":"",
      "fuse_unk":false,"merges":["a b",["ab","ab"]]}})");
  json["model"]["vocab"] = bpe_vocabulary();
  for (const auto& [pointer, value] : changes) json[Json::json_pointer(pointer)] = value;
  return json.dump();
}

FolderText gpt2_files(const std::string& config = R"({"tokenizer_class":"GPT2Tokenizer"})",
                      const std::string& merges = "#version: 0.2\na b\nab ab\n") {
  return {{"vocab.json", bpe_vocabulary().dump()}, {"merges.txt", merges}, {"tokenizer_config.json", config}};
}

}  // namespace

TEST_CASE("vocab.txt is read with the rules of tokenizer_config.json", "[data][tokenizer]") {
  const auto usual = tokenizer_of({{"vocab.txt", kVocabTxt}});
  CHECK(usual->size() == 13);
  CHECK(usual->token(4) == "un");
  CHECK(usual->unknown() == 1);
  CHECK_FALSE(usual->unit());
  CHECK(usual->encode("UNwanted, É x 中中 [SEP]") == Ids{4, 5, 6, 8, 9, 1, 11, 11, 3});
  const auto windows = tokenizer_of({{"vocab.txt", "[UNK]\r\n[CLS]\r\n[SEP]\r\na\r\n"}});
  CHECK(windows->encode("a [PAD]") == Ids{3, 4});  // a token of the class that the vocabulary lacks follows it
  CHECK(windows->size() == 4);

  const auto cased = tokenizer_of({{"vocab.txt", kVocabTxt}, {"tokenizer_config.json", R"({"do_lower_case":false})"}});
  CHECK(cased->encode("E É un") == Ids{10, 1, 4});
  const auto stripped = tokenizer_of(
      {{"vocab.txt", kVocabTxt}, {"tokenizer_config.json", R"({"do_lower_case":false,"strip_accents":true})"}});
  CHECK(stripped->encode("É") == Ids{10});
  const auto joined =
      tokenizer_of({{"vocab.txt", kVocabTxt}, {"tokenizer_config.json", R"({"tokenize_chinese_chars":false})"}});
  CHECK(joined->encode("中a") == Ids{11, 12});
}

TEST_CASE("special tokens have the names that the folder gives them", "[data][tokenizer]") {
  const auto named = tokenizer_of({{"vocab.txt", "<u>\n<c>\n<s>\na\n"},
                                   {"tokenizer_config.json", R"({"unk_token":"other","cls_token":{"content":"<c>"}})"},
                                   {"special_tokens_map.json", R"({"sep_token":"<s>","unk_token":"<u>"})"}});
  CHECK(named->unknown() == 0);
  CHECK(named->form(1).before == Ids{1});
  CHECK(named->form(1).after == Ids{2});
  CHECK(named->encode("a<s>z") == Ids{3, 2, 0});

  // added_tokens_decoder stands for added_tokens.json; both add to the roles.
  const auto decoder =
      tokenizer_of({{"vocab.txt", kVocabTxt},
                    {"tokenizer_config.json", R"({"added_tokens_decoder":{"13":{"content":"<x>","lstrip":true}}})"}});
  CHECK(decoder->size() == 14);
  CHECK(decoder->token(13) == "<x>");
  CHECK(decoder->encode("[SEP] <x>") == Ids{3, 13});
  const auto listed = tokenizer_of({{"vocab.txt", kVocabTxt}, {"added_tokens.json", R"({"New":13})"}});
  CHECK(listed->encode("new [SEP]") == Ids{13, 3});
}

TEST_CASE("of added tokens the longest is found, and white space is taken where its flags say so",
          "[data][tokenizer]") {
  const Json tokens = {{{"id", 7}, {"content", "<x"}, {"normalized", false}},
                       {{"id", 8}, {"content", "<x>"}, {"normalized", false}}};
  const auto nested = tokenizer_of({{"tokenizer.json", wordpiece_json({{"/added_tokens", tokens}})}});
  CHECK(nested->encode("a<x>b<xb") == Ids{4, 8, 6, 7, 6});
  const auto config = [](const std::string& flags) {
    return fmt::format(
        R"({{"tokenizer_class":"GPT2Tokenizer","added_tokens_decoder":{{"258":{{"content":"<|endoftext|>",{}}}}}}})",
        flags);
  };
  const std::string text = "a \u3000<|endoftext|>\n b";
  CHECK(tokenizer_of(gpt2_files(config(R"("lstrip":false)")))->encode(text) ==
        Ids{'a', ' ', 0xE3, 0x80, 0x80, 258, '\n', ' ', 'b'});
  CHECK(tokenizer_of(gpt2_files(config(R"("lstrip":true)")))->encode(text) == Ids{'a', 258, '\n', ' ', 'b'});
  CHECK(tokenizer_of(gpt2_files(config(R"("rstrip":true)")))->encode("a<|endoftext|>\n b") == Ids{'a', 258, 'b'});
}

TEST_CASE("lower case is that of Unicode, character by character", "[data][tokenizer]") {
  const BertRules lower{.clean_text = false, .space_chinese = false, .strip_accents = false, .lowercase = true};
  CHECK(bert_normalize("İIΣẞǅ ΑΣ", lower) == "i\u0307iσßǆ ασ");
}

TEST_CASE("a word that WordPiece cannot spell whole is unknown, and so is one that is too long", "[data][tokenizer]") {
  const auto tokenizer = tokenizer_of({{"tokenizer.json", wordpiece_json()}});
  CHECK(tokenizer->encode("aaaaa aaaaaa ab ba") == Ids{4, 5, 5, 5, 5, 1, 1, 6, 5});
  CHECK(tokenizer->encode("").empty());
}

TEST_CASE("forms of BERT, RoBERTa and GPT-2", "[data][tokenizer]") {
  const auto bert = tokenizer_of({{"tokenizer.json", wordpiece_json()}});
  CHECK(bert->form(1).before == Ids{2});
  CHECK(bert->form(1).after == Ids{3});
  CHECK(bert->form(2).between == Ids{3});
  CHECK(bert->form(2).second_type);
  const Json roberta = {{"type", "RobertaProcessing"}, {"sep", {"b", 6}}, {"cls", {"a", 4}}};
  const auto doubled = tokenizer_of({{"tokenizer.json", wordpiece_json({{"/post_processor", roberta}})}});
  CHECK(doubled->form(1).before == Ids{4});
  CHECK(doubled->form(2).between == Ids{6, 6});
  CHECK(doubled->form(2).after == Ids{6});
  CHECK_FALSE(doubled->form(2).second_type);

  const auto gpt2 = tokenizer_of(gpt2_files());
  CHECK(gpt2->form(1).specials(1) == 0);
  CHECK(gpt2->form(2).specials(2) == 0);
  CHECK(gpt2->unknown() == -1);
  const auto started = tokenizer_of(gpt2_files(R"({"tokenizer_class":"GPT2TokenizerFast","add_bos_token":true})"));
  CHECK(started->form(1).before == Ids{258});
  CHECK(started->form(1).after.empty());
}

TEST_CASE("byte pairs merge by rank", "[data][tokenizer]") {
  const auto tokenizer = tokenizer_of({{"tokenizer.json", bpe_json()}});
  CHECK(tokenizer->encode("ababa ab") == Ids{257, 'a', ' ', 256});
  CHECK(tokenizer->encode("<|endoftext|>").size() == 13);  // not listed as an added token
  CHECK(tokenizer_of(gpt2_files())->encode("ab<|endoftext|>ab") == Ids{256, 258, 256});
  const auto spaced = tokenizer_of({{"tokenizer.json", bpe_json({{"/pre_tokenizer/add_prefix_space", true}})}});
  CHECK(spaced->encode("ab") == Ids{' ', 256});
  CHECK(spaced->encode(" ab") == Ids{' ', 256});
  CHECK(spaced->encode("").empty());
  // A second time from the cache.
  CHECK(spaced->encode("ab") == Ids{' ', 256});
}

TEST_CASE("whose vocab.json it is stands in tokenizer_config.json, else in config.json", "[data][tokenizer]") {
  FolderText files = gpt2_files("{}");
  CHECK_THAT(tokenizer_error(files).second, ContainsSubstring("do not say whose they are"));
  files["config.json"] = R"({"model_type":"gpt2"})";
  CHECK(tokenizer_of(files)->form(1).specials(1) == 0);
  files["config.json"] = R"({"model_type":"roberta"})";
  files["tokenizer_config.json"] = R"({"cls_token":"a","sep_token":"b","tokenizer_class":"RobertaTokenizer"})";
  CHECK(tokenizer_of(files)->form(1).before == Ids{'a'});
  files["tokenizer_config.json"] = "{}";
  CHECK_THAT(tokenizer_error(files).second, ContainsSubstring("cls_token \"<s>\" is not in the vocabulary"));
  files["config.json"] = R"({"model_type":"bart"})";
  CHECK_THAT(tokenizer_error(files).second, ContainsSubstring("\"bart\", whose vocab.json"));
}

TEST_CASE("a tokenizer's files are written as they were", "[data][tokenizer]") {
  const TestFolder from, to;
  copy_tokenizer("wordpiece", from, "");
  from.write("special_tokens_map.json", "{ }\r\n");
  from.write("README.md", "not the tokenizer's");
  FolderWriter writer(to / "model");
  read_tokenizer(from.path())->write(writer);
  writer.commit();
  for (const char* name :
       {"tokenizer.json", "tokenizer_config.json", "vocab.txt", "added_tokens.json", "special_tokens_map.json"}) {
    INFO(name);
    CHECK(read_file(to / "model" / name) == read_file(from / name));
  }
  CHECK_FALSE(fs::exists(to / "model" / "README.md"));
  CHECK_FALSE(fs::exists(to / "model" / "merges.txt"));
}

TEST_CASE("a folder without tokenizer, or with one that is damaged, is refused in a sentence", "[data][tokenizer]") {
  const auto json = [](const std::string& text) { return FolderText{{"tokenizer.json", text}}; };
  const auto piece = [&](const std::string& pointer, const Json& value) {
    return json(wordpiece_json({{pointer, value}}));
  };
  const auto bytes = [&](const std::string& pointer, const Json& value) { return json(bpe_json({{pointer, value}})); };
  const Json merges_of_unknown = {"a b", "q zz"}, merge_twice = {"a b", "a b"};
  const Json added = {{{"id", 9}, {"content", "zz"}}}, contradicting = {{{"id", 5}, {"content", "a"}}};
  const Json added_twice = {{{"id", 7}, {"content", "zz"}}, {{"id", 8}, {"content", "zz"}}};
  const Json vanishing = {{{"id", 7}, {"content", "\xCC\x81"}, {"normalized", true}}};
  const Json text_b = Json::parse(R"([{"Sequence":{"id":"B","type_id":0}}])");
  const Json types = Json::parse(R"([{"Sequence":{"id":"A","type_id":1}},{"Sequence":{"id":"B","type_id":1}}])");
  const auto with_template = [&](const Json& single, const Json& pair) {
    return piece("/post_processor", {{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}});
  };
  const Json text_a = Json::parse(R"([{"Sequence":{"id":"A","type_id":0}}])");

  const std::pair<FolderText, std::string> bad[] = {
      {{}, "a model folder without tokenizer; supported: tokenizer.json"},
      {{{"spiece.model", "x"}}, "spiece.model is a SentencePiece tokenizer"},
      {{{"vocab.json", "{}"}}, "vocab.json is there without merges.txt"},
      {{{"merges.txt", ""}}, "merges.txt is there without vocab.json"},
      {{{"vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\nb\na\n"}},
       "vocab.txt: the token \"a\" is listed twice, with ids 3 and 5"},
      {{{"vocab.txt", "[UNK]\n[CLS]\n\xFF\n"}}, "vocab.txt:3: invalid UTF-8"},
      {{{"vocab.txt", "[UNK]\n[CLS]\n"}}, "the special token sep_token \"[SEP]\" is not in the vocabulary"},
      {{{"vocab.txt", "[CLS]\n[SEP]\n"}}, "the special token unk_token \"[UNK]\" is not in the vocabulary"},
      {{{"vocab.txt", ""}}, "the vocabulary is empty"},
      {{{"vocab.txt", kVocabTxt}, {"tokenizer_config.json", R"({"sep_token":null})"}}, "\"sep_token\" is null"},
      {{{"vocab.txt", kVocabTxt}, {"tokenizer_config.json", R"({"do_lower_case":"no"})"}},
       "tokenizer_config.json: do_lower_case: must be true or false"},
      {{{"vocab.txt", kVocabTxt}, {"tokenizer_config.json", R"({"tokenizer_class":"BertJapaneseTokenizer"})"}},
       "\"BertJapaneseTokenizer\", which with a vocab.txt is not supported"},
      {{{"vocab.txt", kVocabTxt}, {"tokenizer_config.json", R"({"do_basic_tokenize":false})"}}, "do_basic_tokenize"},
      {{{"vocab.txt", kVocabTxt}, {"tokenizer_config.json", R"({"added_tokens_decoder":{"x":{"content":"a"}}})"}},
       "\"x\" is not an id"},
      {{{"vocab.txt", kVocabTxt}, {"added_tokens.json", R"({"y":20})"}}, "\"y\" has id 20"},
      {gpt2_files("[]"), "tokenizer_config.json: expected a JSON object"},
      {gpt2_files(R"({"tokenizer_class":"CLIPTokenizer"})"), "\"CLIPTokenizer\", whose vocab.json and merges.txt"},
      {gpt2_files(R"({"tokenizer_class":"GPT2Tokenizer"})", "#version\na b c\n"), "merges.txt:2: expected two tokens"},
      {gpt2_files(R"({"tokenizer_class":"GPT2Tokenizer"})", "a b\n\n"), "merges.txt:2: expected two tokens"},
      {gpt2_files(R"({"tokenizer_class":"GPT2Tokenizer"})", "a b\nb a\n"),
       "merge 2 (\"b\" with \"a\") needs \"ba\", which is not in the vocabulary"},
      {json(wordpiece_json().substr(0, 300)), "tokenizer.json, byte"},
      {json("[]"), "expected a JSON object"},
      {json("{}"), "\"model\" is missing"},
      {json("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"a\":1}}}"), "\"a\" appears twice"},
      {piece("/version", "2.0"), "version: \"2.0\" is not supported; supported: 1.0"},
      {piece("/other", 1), "\"other\" is not supported"},
      {piece("/model/other", 1), "model: \"other\" is not supported"},
      {piece("/model/type", "Unigram"), "model: \"Unigram\" is not supported; supported: WordPiece, BPE"},
      {piece("/model/vocab/b", 5), "tokens \"##a\" and \"b\" both have id 5"},
      {piece("/model/vocab/b", 8), "no token has id 6, though ids go up to 8"},
      {piece("/model/vocab/b", -1), "model.vocab[\"b\"]: must be a whole number"},
      {piece("/model/vocab/b", "x"), "model.vocab[\"b\"]: must be a whole number"},
      {piece("/model/unk_token", "<unk>"), "the unknown token \"<unk>\" is not in the vocabulary"},
      {piece("/normalizer", {{"type", "Lowercase"}}), "normalizer: \"Lowercase\" is not supported"},
      {piece("/pre_tokenizer", {{"type", "Whitespace"}}), "pre_tokenizer: \"Whitespace\" is not supported"},
      {piece("/pre_tokenizer", nullptr), "without \"pre_tokenizer\" is not supported"},
      {piece("/added_tokens", added), "\"zz\" has id 9; added tokens that are not in the vocabulary must follow it"},
      {piece("/added_tokens", contradicting), "\"a\" has id 5, but the vocabulary gives it 4"},
      {piece("/added_tokens", added_twice), "the added token \"zz\" is listed twice"},
      {piece("/added_tokens", vanishing), "normalization leaves nothing of the added token of id 7"},
      {piece("/post_processor/sep", {"[SEP]", 9}), "no special token \"[SEP]\" of id 9"},
      {piece("/post_processor/type", "Other"), "post_processor: \"Other\" is not supported"},
      {with_template(text_b, types), "post_processor.single: only templates with the first text"},
      {with_template(text_a, text_a), "post_processor.pair: must have 2 text(s)"},
      {with_template(text_a, types), "post_processor.pair: only token types"},
      {bytes("/model/vocab/ab", 300), "no token has id 256"},
      {bytes("/model/merges", merges_of_unknown), "merge 2 (\"q\" with \"zz\") needs \"zz\""},
      {bytes("/model/merges", merge_twice), "merge 2 (\"a\" with \"b\") is listed twice"},
      {bytes("/model/merges", {"ab"}), "model.merges[0]: must be two tokens"},
      {bytes("/model/dropout", 0.1), "model.dropout: 0.1 is not supported"},
      {bytes("/model/end_of_word_suffix", "</w>"), "model.end_of_word_suffix: \"</w>\" is not supported"},
      {bytes("/model/byte_fallback", true), "supported with byte_fallback: a normalizer Sequence"},
      {bytes("/normalizer", {{"type", "NFKC"}}),
       "normalizer: \"NFKC\" is not supported; supported: for BPE, NFC or null"},
      {bytes("/pre_tokenizer", splitters({{"type", "Digits"}, {"individual_digits", false}}, true)),
       "only \"individual_digits\": true is supported"},
      {bytes("/pre_tokenizer", splitters(split_by("\\s+"), false)), "the expression \\s+ is not supported"},
      {bytes("/pre_tokenizer", splitters(split_by(kQwen2Pattern), true)), "\"use_regex\": true is not supported"},
      {bytes("/pre_tokenizer", splitters({{"type", "Punctuation"}}, true)), "\"Punctuation\" is not supported"},
      {bytes("/pre_tokenizer/type", "Metaspace"), "pre_tokenizer: \"Metaspace\" is not supported"},
      {bytes("/pre_tokenizer/use_regex", false), "\"use_regex\": false is not supported"},
      {bytes("/model/vocab", {{"a", 0}, {"b", 1}, {"ab", 2}}), "the token for byte 0x20"},
      {bytes("/model/unk_token", "<none>"), "the unknown token \"<none>\" is not in the vocabulary"},
  };
  for (const auto& [files, part] : bad) {
    INFO(part);
    const auto [code, sentence] = tokenizer_error(files);
    CHECK(code == ExitCode::run_failed);
    CHECK_THAT(sentence, ContainsSubstring(part));
  }
}

TEST_CASE("words, digits, composed characters and whole words are taken as the file says", "[tokenizer]") {
  Json vocabulary = bpe_vocabulary();
  const auto twelve = static_cast<int64_t>(vocabulary.size());
  vocabulary["12"] = twelve;
  vocabulary["ba"] = twelve + 1;  // no merge makes it
  const auto ids = [&](std::vector<std::pair<std::string, Json>> changes, const std::string& text) {
    changes.emplace_back("/model/vocab", vocabulary);
    changes.emplace_back("/model/merges", Json{"a b", "ab ab", "1 2"});
    return tokenizer_of({{"tokenizer.json", bpe_json(changes)}})->encode(text);
  };
  const Json digits = splitters({{"type", "Digits"}, {"individual_digits", true}}, true);
  CHECK(ids({}, "x12") == Ids{'x', twelve});
  CHECK(ids({{"/pre_tokenizer", digits}}, "x12ab") == Ids{'x', '1', '2', 256});
  CHECK(ids({{"/pre_tokenizer", splitters(split_by(kQwen2Pattern), false)}}, "12") == Ids{'1', '2'});
  CHECK(ids({{"/pre_tokenizer", splitters(split_by(kLlama3Pattern), false)}}, "1212") == Ids{twelve, '1', '2'});
  CHECK(ids({}, "e\u0301") == Ids{'e', 0xCC, 0x81});
  CHECK(ids({{"/normalizer", {{"type", "NFC"}}}}, "e\u0301") == Ids{0xC3, 0xA9});
  CHECK(ids({}, "ba") == Ids{'b', 'a'});
  CHECK(ids({{"/model/ignore_merges", true}}, "ba") == Ids{twelve + 1});
}

TEST_CASE("bytes that a vocabulary lacks are the unknown token, or nothing", "[tokenizer]") {
  // As the `tokenizers` library does (SmolLM2 lacks 21 bytes): "a\\x04\\x05b" and so on.
  Json vocabulary = Json::object();
  int64_t id = 0;
  for (int byte = 0; byte < 256; ++byte)
    if (byte != 4 && byte != 6) vocabulary[gpt2_byte_name(static_cast<unsigned char>(byte))] = id++;
  for (const char* token : {"ab", "abab", "<|endoftext|>"}) vocabulary[token] = id++;
  const int64_t unknown = id - 1, a = vocabulary["a"], b = vocabulary["b"], five = vocabulary[gpt2_byte_name(5)];
  const auto tokenizer = [&](const Json& token, bool fuse) {
    return tokenizer_of(
        {{"tokenizer.json",
          bpe_json({{"/model/vocab", vocabulary}, {"/model/unk_token", token}, {"/model/fuse_unk", fuse}})}});
  };
  const auto named = tokenizer("<|endoftext|>", false);
  CHECK(named->encode("a\x04\x05"
                      "b") == Ids{a, unknown, five, b});
  CHECK(named->encode("\x04\x06") == Ids{unknown, unknown});
  CHECK(named->unknown() == unknown);
  CHECK(tokenizer("<|endoftext|>", true)
            ->encode("\x04\x06"
                     "a") == Ids{unknown, a});
  CHECK(tokenizer(nullptr, false)
            ->encode("a\x04\x05"
                     "b") == Ids{a, five, b});
  CHECK(tokenizer(nullptr, false)->encode("\x04").empty());
  CHECK(tokenizer_of({{"tokenizer.json", bpe_json()}})->unknown() == -1);
}

TEST_CASE("a folder of Llama or Mistral that names no class has LlamaTokenizer's tokens around a text", "[tokenizer]") {
  for (const char* type : {"llama", "mistral"}) {
    const std::string config = std::string(R"({"model_type":")") + type + "\"}";
    const auto [code, message] =
        tokenizer_error({{"tokenizer.json", bpe_json()}, {"tokenizer_config.json", "{}"}, {"config.json", config}});
    INFO(message);
    CHECK(code == ExitCode::run_failed);
    CHECK_THAT(message, ContainsSubstring("the special token bos_token \"<s>\" is not in the vocabulary"));
    // Named, it is tokenizer.json as it stands.
    const auto named = tokenizer_of({{"tokenizer.json", bpe_json()},
                                     {"tokenizer_config.json", R"({"tokenizer_class":"PreTrainedTokenizerFast"})"},
                                     {"config.json", config}});
    CHECK(named->encode("ab") == Ids{256});
  }
}
