// Examples as token ids, in splits by role. Torch-free on purpose: `validate` reads data without a model.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/tokenizer.h"
#include "record/split_summary.h"

namespace headprune {

/// What is to be predicted from an example: one label, one number, the token after each position, a second text, or
/// which of several texts follows.
enum class DataKind { labelled, numbered, language, translation, choices };
/// Whether a causal language model can predict it.
inline bool is_language(DataKind kind) { return kind == DataKind::language || kind == DataKind::choices; }

/// A context with one of the texts that may follow it, as a model reads it.
struct Choice {
  std::vector<int64_t> tokens;   // ids
  std::vector<int64_t> targets;  // the id that follows each token, kNoTarget where that is the context's
  int64_t characters = 0;        // code points of the text alone
};

/// One sequence with what is to be predicted from it.
struct Example {
  std::vector<int64_t> tokens;       // ids, special tokens included
  std::vector<int64_t> token_types;  // one a token: 0 first text, 1 second; empty: all 0
  std::vector<int64_t> special;      // positions of special tokens, ascending
  int64_t label = -1;                // classification: index into Dataset::labels
  /// Language modelling: the id that follows each token, kNoTarget where none. Translation: the target text's ids, then
  /// the end token. Choices: as language modelling, of the right one, whose context and text `tokens` are. Else empty.
  std::vector<int64_t> targets;
  /// Language modelling: characters and bytes of the text that the targets stand for; 0 where the tokenizer does not
  /// keep the text.
  int64_t characters = 0, bytes = 0;
  std::optional<double> number = {};         // regression
  std::vector<int64_t> decoder_tokens = {};  // translation: the start token, then the target text's ids; else empty
  std::string reference = {};                // translation: the target text as it stands in its file
  std::vector<Choice> choices = {};          // choices: all of them, two or more; else empty
  int64_t right_choice = -1;                 // choices: which is right
};
inline constexpr int64_t kNoTarget = -100;

/// One file that a run depends on; `role` as in run.json's inputs, "data.train".
struct InputFile {
  std::string role;
  std::filesystem::path path;
};

struct Split {
  std::string name;  // train, dev, test: which part of the source this is
  std::vector<Example> examples;
  int64_t original = 0;  // examples before `limit`
  std::string sha256;    // of the token ids and what is to be predicted
};

/// A split with the roles that use it: "train", "score", "select", "report".
struct UsedSplit {
  std::vector<std::string> roles;
  std::shared_ptr<const Split> split;
};

/// `train` is what a model is trained on; the other three are the roles of docs/definitions.md "Words and splits".
/// Roles may share data, and shared_splits() names those that do.
struct Dataset {
  std::string name;  // alias in results.json: the file or folder name, or "synthetic"
  DataKind kind = DataKind::labelled;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::vector<std::string> labels;       // classification, in the order of the model's outputs; else empty
  std::vector<std::string> label_notes;  // how they were paired with those of a loaded classifier
  std::shared_ptr<const Split> train, score, select, report;
  std::vector<SplitSummary> summaries;  // of each split that a role uses
  std::vector<std::string> warnings;
  std::map<std::string, std::string> part_notes;  // part to how it was made, where it has no file of its own

  /// The splits that roles use, each once.
  std::vector<UsedSplit> used_splits() const;
  /// Each pair of roles that read the same part, {"score","select"}; train and score are meant to.
  std::vector<std::array<std::string, 2>> shared_splits() const;
};

}  // namespace headprune
