// Treebanks: what their lines mean, and what is refused with its place.
#include "data/conllu.h"

#include "core/error.h"
#include "support/catch_torch.h"
#include "support/folder.h"

using namespace headprune;

namespace {

/// Words with their text, "Dogs:nsubj>1".
std::string words_text(const SyntaxSentence& sentence) {
  std::string text;
  for (const SyntaxWord& word : sentence.words)
    text +=
        fmt::format("{}{}:{}>{}", text.empty() ? "" : " ",
                    sentence.text.substr(word.span.begin, word.span.end - word.span.begin), word.relation, word.head);
  return text;
}

std::vector<SyntaxSentence> sentences_of(const std::string& text) {
  const TestFolder folder;
  folder.write("t.conllu", text);
  return read_conllu(folder / "t.conllu");
}

std::string refusal(const std::string& text, ExitCode code = ExitCode::run_failed) {
  try {
    sentences_of(text);
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  return "no error";
}

/// A line of ten fields.
std::string line(const std::string& id, const std::string& form, const std::string& head, const std::string& relation,
                 const std::string& misc = "_") {
  return id + "\t" + form + "\tlemma\tNOUN\t_\t_\t" + head + "\t" + relation + "\t_\t" + misc + "\n";
}

}  // namespace

TEST_CASE("words stand in the sentence's text, with governors and relations", "[data][conllu]") {
  const std::string text = "# sent_id = 1\n# text = Dogs  bark.\n" + line("1", "Dogs", "2", "nsubj:pass") +
                           line("2", "bark", "0", "root", "SpaceAfter=No") + line("3", ".", "2", "punct") + "\n";
  const auto sentences = sentences_of(text);
  REQUIRE(sentences.size() == 1);
  CHECK(words_text(sentences[0]) == "Dogs:nsubj>1 bark:root>-1 .:punct>1");
  CHECK(sentences[0].words[1].span == TextSpan{6, 10});
  CHECK(sentences[0].name.ends_with("t.conllu:3"));
  CHECK(sentences[0].words[0].lemma == "lemma");
  CHECK(sentences[0].words[0].part_of_speech == "NOUN");
  // With CRLF, without the last empty line, without the comment.
  std::string windows;
  for (const char c : text.substr(0, text.size() - 1)) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  CHECK(words_text(sentences_of(windows)[0]) == words_text(sentences[0]));
  const auto joined = sentences_of(text.substr(text.find("1\tDogs")));
  CHECK(joined[0].text == "Dogs bark.");
  CHECK(words_text(joined[0]) == words_text(sentences[0]));
}

TEST_CASE("the words of one token have their parts of it, or no text; empty nodes are none", "[data][conllu]") {
  const auto spelled = sentences_of("# text = I don't\n" + line("1", "I", "2", "nsubj") + "2-3\tdon't" +
                                    std::string("\t_\t_\t_\t_\t_\t_\t_\t_\n") + line("2", "do", "0", "root") +
                                    line("2.1", "ghost", "_", "_") + line("3", "n't", "2", "advmod") + "\n");
  CHECK(words_text(spelled[0]) == "I:nsubj>1 do:root>-1 n't:advmod>1");
  const auto fused =
      sentences_of("# text = du vin\n1-2\tdu" + std::string("\t_\t_\t_\t_\t_\t_\t_\t_\n") +
                   line("1", "de", "3", "case") + line("2", "le", "3", "det") + line("3", "vin", "0", "root") + "\n");
  CHECK(words_text(fused[0]) == ":case>2 :det>2 vin:root>-1");
  CHECK(words_text(sentences_of(line("1", "New York", "0", "root") + "\n")[0]) == "New York:root>-1");
}

TEST_CASE("a treebank that is none is refused with the line", "[data][conllu]") {
  CHECK_THAT(refusal("", ExitCode::usage), ContainsSubstring("holds no sentence"));
  CHECK_THAT(refusal("a b c\n"), ContainsSubstring("t.conllu:1: 1 fields"));
  CHECK_THAT(refusal(line("1", "a", "0", "root") + line("3", "b", "1", "obj")),
             ContainsSubstring(":2: word 3 follows word 1"));
  CHECK_THAT(refusal(line("x", "a", "0", "root")), ContainsSubstring("the id 'x' is no number"));
  CHECK_THAT(refusal(line("1", "a", "_", "root")), ContainsSubstring("t.conllu:1: the word has no head"));
  CHECK_THAT(refusal(line("1", "a", "2", "root")),
             ContainsSubstring(":1: the head 2 is no other word of a sentence of 1"));
  CHECK_THAT(refusal(line("1", "a", "1", "root")), ContainsSubstring("the head 1 is no other word"));
  CHECK_THAT(refusal("# text = b\n" + line("1", "a", "0", "root")),
             ContainsSubstring("t.conllu:2: 'a' does not follow"));
  CHECK_THAT(refusal("2-3\tab\t_\t_\t_\t_\t_\t_\t_\t_\n" + line("1", "a", "0", "root")),
             ContainsSubstring("the range 2-3"));
  CHECK_THAT(refusal("1-3\tab\t_\t_\t_\t_\t_\t_\t_\t_\n" + line("1", "a", "0", "root") + line("2", "b", "1", "x")),
             ContainsSubstring("a range reaches beyond the sentence"));
  CHECK_THAT(refusal("1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n"), ContainsSubstring("a range without words"));
}
