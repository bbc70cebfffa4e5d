#include "model/greedy.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/files.h"
#include "core/open_file.h"
#include "core/stop.h"

namespace headprune {
namespace {

Json read_object(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return Json::object();
  Json json = read_json(file);
  if (!json.is_object()) fail(ExitCode::run_failed, "{}: expected one JSON object", file.string());
  return json;
}

/// eos_token_id; none where the file does not name it.
std::vector<int64_t> end_tokens(const Json& json, const std::filesystem::path& file) {
  const Json value = json.value("eos_token_id", Json());
  if (value.is_null()) return {};
  const Json list = value.is_array() ? value : Json::array({value});
  const bool fine = !list.empty() && std::all_of(list.begin(), list.end(),
                                                 [](const Json& one) { return one.is_number_integer() && one >= 0; });
  if (!fine)
    fail(ExitCode::run_failed, "{}: eos_token_id is {}; expected a token's id or a list of such", file.string(),
         dump_json(value));
  return list.get<std::vector<int64_t>>();
}

/// Settings of transformers' generate() under which the likeliest text is another one, with the value that changes
/// nothing (beside null).
const std::vector<std::pair<const char*, Json>> kChangesText = {{"bad_words_ids", Json()},
                                                                {"begin_suppress_tokens", Json()},
                                                                {"encoder_repetition_penalty", 1.0},
                                                                {"exponential_decay_length_penalty", Json()},
                                                                {"forced_bos_token_id", Json()},
                                                                {"forced_eos_token_id", Json()},
                                                                {"guidance_scale", 1.0},
                                                                {"min_length", 0},
                                                                {"min_new_tokens", 0},
                                                                {"no_repeat_ngram_size", 0},
                                                                {"num_beams", 1},
                                                                {"repetition_penalty", 1.0},
                                                                {"sequence_bias", Json()},
                                                                {"suppress_tokens", Json()}};

}  // namespace

std::vector<std::vector<int64_t>> continue_texts(SequenceWriter& writer, const Batch& prompts, const PerBlock& gates,
                                                 const GreedySearch& search) {
  std::vector<std::vector<int64_t>> texts(static_cast<size_t>(prompts.size()));
  std::vector<size_t> going_on(texts.size());
  std::iota(going_on.begin(), going_on.end(), 0);
  const torch::Tensor lengths = prompts.present.sum(1).to(torch::kCPU);  // [B]
  const auto may_grow = [&](size_t text) {
    // The last token that is written need not be read.
    const int64_t positions = writer.longest() - lengths.const_data_ptr<int64_t>()[text];
    return std::ssize(texts[text]) < std::min(search.most, positions < search.most ? positions + 1 : search.most);
  };

  WriterState state = writer.start({}, prompts);
  torch::Tensor tokens = texts_at_end(prompts);  // [N, T]
  while (!going_on.empty()) {
    check_stop();
    const torch::Tensor logits = writer.next(state, tokens, {.gates = gates}).values;  // [N, vocabulary]
    if (!logits.amax(1).isfinite().all().item<bool>())
      fail(ExitCode::run_failed, "the model's numbers are not finite; its weights may be damaged");
    tokens = logits.argmax(1, true);                                // [N, 1]
    const torch::Tensor ids = tokens.to(torch::kCPU).contiguous();  // [N, 1]
    std::vector<int64_t> rows;
    std::vector<size_t> still;
    for (size_t i = 0; i < going_on.size(); ++i) {
      const int64_t id = ids.const_data_ptr<int64_t>()[i];
      if (std::find(search.ends.begin(), search.ends.end(), id) != search.ends.end()) continue;
      texts[going_on[i]].push_back(id);
      if (!may_grow(going_on[i])) continue;
      rows.push_back(static_cast<int64_t>(i));
      still.push_back(going_on[i]);
    }
    if (rows.size() < going_on.size() && !rows.empty()) {
      const torch::Tensor kept = torch::tensor(rows, torch::kInt64).to(tokens.device());  // [N']
      state.select(kept, kept);
      tokens = tokens.index_select(0, kept);  // [N', 1]
    }
    going_on = std::move(still);
  }
  return texts;
}

WritingSettings read_writing_settings(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "generation_config.json";
  const Json json = read_object(file);
  WritingSettings settings{.ends = end_tokens(json, file), .ignored = {}};
  if (settings.ends.empty()) settings.ends = end_tokens(read_object(folder / "config.json"), folder / "config.json");
  for (const auto& [key, neutral] : kChangesText)
    if (const Json value = json.value(key, Json()); !value.is_null() && value != neutral)
      settings.ignored.push_back(fmt::format("{} {}", key, dump_json(value)));
  return settings;
}

}  // namespace headprune
