// Going on with texts by the likeliest token, and what a model folder says of where they end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "model/writer.h"

namespace headprune {

struct GreedySearch {
  std::vector<int64_t> ends;  // tokens that end a text
  int64_t most = 64;          // tokens that are written, the end token included
};

/// What follows each text of `prompts`, the likeliest token every time (of equal ones that with the lower id), without
/// its end token. Texts know nothing of each other. `gates` as in HeadProbe, [H] each. A text also ends where the model
/// has no position left. Throws Error(run_failed) where the largest logit of a text is not finite, Interrupted as
/// check_stop() does.
std::vector<std::vector<int64_t>> continue_texts(SequenceWriter& writer, const Batch& prompts, const PerBlock& gates,
                                                 const GreedySearch& search);

/// What the files of a folder say of how its model writes.
struct WritingSettings {
  std::vector<int64_t> ends;         // eos_token_id: generation_config.json's, else config.json's; maybe none
  std::vector<std::string> ignored;  // settings of generation_config.json that change even the likeliest text
};
/// Throws Error(run_failed): a file that is no JSON object, an eos_token_id that is no token or list of tokens.
WritingSettings read_writing_settings(const std::filesystem::path& folder);

}  // namespace headprune
