// Treebanks in CoNLL-U (universaldependencies.org/format.html): words with their governors.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/tokenizer.h"

namespace headprune {

/// A syntactic word.
struct SyntaxWord {
  std::string form, lemma, part_of_speech;  // UPOS
  std::string relation;                     // to its governor, without subtype: "nsubj" of "nsubj:pass"
  int64_t head = -1;                        // place of the governor among the words; -1: the root
  /// Its bytes of the text. Empty where it has no text of its own: a word of a multi-word token ("don't", "du") whose
  /// words do not spell it one after the other.
  TextSpan span;
};

struct SyntaxSentence {
  std::string name;  // "FILE:LINE" of its first word
  std::string text;  // of its comment, else joined from forms and SpaceAfter
  std::vector<SyntaxWord> words;
};

/// Empty nodes (8.1) are left out, CRLF and a missing last line are tolerated. Throws Error(usage) for a file that
/// cannot be read or holds no sentence, Error(run_failed) "file:line: ..." for a line without ten fields, an id or a
/// head that is no number or none of the sentence, or a text that its words do not spell.
std::vector<SyntaxSentence> read_conllu(const std::filesystem::path& path);

}  // namespace headprune
