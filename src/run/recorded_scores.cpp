#include "run/recorded_scores.h"

#include <algorithm>

namespace headprune {

namespace {

std::string direction_text(const ScoreMethod& method) {
  return method.keep() == Keep::large ? "larger = keep" : "smaller = keep, negated";
}

/// Heads of one block that still take part, as positions among the block's heads.
std::vector<int64_t> surviving(const BlockHeads& block, const HeadSet& removed) {
  std::vector<int64_t> positions;
  for (size_t i = 0; i < block.heads.size(); ++i)
    if (!removed.contains({block.id, block.heads[i]})) positions.push_back(static_cast<int64_t>(i));
  return positions;
}

}  // namespace

std::optional<Importance> recorded_importance(const Record& record, const ScoreKey& key, const Blocks& blocks) {
  const RecordedScore* const found = record.score(key);
  if (found == nullptr) return std::nullopt;
  const RecordedScore& stored = *found;
  Importance scores;
  bool has_stderr = false;
  scores.ties = stored.done->ties;
  scores.examples = stored.done->examples;
  scores.forward = stored.done->forward;
  scores.backward = stored.done->backward;
  scores.dur_s = stored.done->dur_s;
  for (const BlockHeads& block : blocks) {
    const auto size = block.count();
    torch::Tensor values = torch::zeros({size}, torch::kFloat64);  // [H]
    torch::Tensor stderrs;                                         // [H]
    const auto row = stored.blocks.find(block.id);
    if (row == stored.blocks.end()) return std::nullopt;
    has_stderr = has_stderr || !row->second.stderrs.empty();
    if (!row->second.stderrs.empty()) stderrs = torch::zeros({size}, torch::kFloat64);
    scores.n.push_back(row->second.n);
    for (size_t i = 0; i < row->second.heads.size(); ++i) {
      const auto head = std::find(block.heads.begin(), block.heads.end(), row->second.heads[i]);
      if (head == block.heads.end()) return std::nullopt;
      const int64_t position = head - block.heads.begin();
      values[position] = row->second.scores[i];
      if (!row->second.stderrs.empty()) stderrs[position] = row->second.stderrs[i].value_or(0.0);
    }
    scores.values.push_back(values);
    scores.stderr_.push_back(stderrs);
  }
  if (!has_stderr) scores.stderr_.clear();
  return scores;
}

void record_importance(Workspace& workspace, const ScoreKey& key, const Importance& importance, const Blocks& blocks,
                       const HeadSet& removed) {
  ScoreBlock row;
  ScoreDone done;
  row.seed = done.seed = key.seed;
  row.method = done.method = key.method;
  row.draw = done.draw = key.draw;
  row.sweep = done.sweep = key.sweep;
  if (!key.sweep.empty()) row.step = done.step = key.step;
  for (size_t b = 0; b < blocks.size(); ++b) {
    row.block = blocks[b].id;
    row.n = importance.n.empty() ? 0 : importance.n[b];
    row.heads.clear();
    row.scores.clear();
    row.stderrs.clear();
    for (std::vector<double>& half : row.halves) half.clear();
    for (const int64_t position : surviving(blocks[b], removed)) {
      row.heads.push_back(blocks[b].heads[position]);
      row.scores.push_back(importance.values[b][position].item<double>());
      if (!importance.stderr_.empty() && importance.stderr_[b].defined())
        row.stderrs.emplace_back(importance.stderr_[b][position].item<double>());
      for (size_t half = 0; half < 2; ++half)
        if (!importance.halves[half].empty() && key.sweep.empty())
          row.halves[half].push_back(importance.halves[half][b][position].item<double>());
    }
    workspace.journal.score(row);
  }
  std::string where;
  if (workspace.experiment.seeds.size() > 1) where += fmt::format("seed {}: ", key.seed);
  if (!key.sweep.empty()) where += fmt::format("sweep {}, step {}: ", key.sweep, key.step);
  for (const std::string& warning : importance.warnings) workspace.journal.warn({"tied_scores", where + warning});
  done.direction = direction_text(workspace.method(key.method));
  done.ties = importance.ties;
  done.examples = importance.examples;
  done.forward = importance.forward;
  done.backward = importance.backward;
  done.dur_s = importance.dur_s;
  workspace.journal.score_done(done);
}

}  // namespace headprune
