#include <algorithm>

#include "core/random.h"
#include "run/stages.h"

namespace headprune {

Passes score_stage(SeedRun& run, IntactScores& scores) {
  Workspace& workspace = run.workspace;
  std::vector<ScoreRequest> requests;
  std::vector<ScoreKey> missing;
  for (const NamedMethod& named : workspace.methods) {
    for (int64_t draw = 0; draw < named.method->draws(); ++draw) {
      requests.push_back({named.method.get(), named.label, draw});
      const ScoreKey key{run.seed, named.label, draw, "", -1};
      const std::optional<Importance> stored = recorded_importance(workspace.journal.record(), key, run.blocks);
      if (stored)
        scores[{named.label, draw}] = *stored;
      else
        missing.push_back(key);
    }
  }
  if (missing.empty()) return {};

  // All methods again, not the missing ones alone: which attention path runs depends on what the pass is asked for, and
  // a continued run must find the same bytes as an uninterrupted one.
  const HeadSet nothing_removed;
  const auto batch_done = [&](size_t done) {
    workspace.progress.say(fmt::format("[score] seed {}: batch {}/{}", run.seed, done, workspace.score_batches.size()));
    workspace.advance(Work::score_batch, 1);
  };
  const ScoreInput input{.model = run.model(),
                         .task = *workspace.task,
                         .batches = workspace.score_batches,
                         .examples = static_cast<int64_t>(workspace.dataset.score->examples.size()),
                         .removed = nothing_removed,
                         .seed = stream_seed(static_cast<uint64_t>(run.seed), "score"),
                         .on_batch = batch_done};
  const std::vector<Importance> computed = importance(requests, input);
  for (size_t i = 0; i < requests.size(); ++i) {
    const ScoreKey key{run.seed, requests[i].label, requests[i].draw, "", -1};
    scores[{key.method, key.draw}] = computed[i];
    if (std::find(missing.begin(), missing.end(), key) != missing.end())
      record_importance(workspace, key, computed[i], run.blocks, nothing_removed);
  }
  workspace.status.heartbeat();
  Passes passes;  // one pass serves all methods; each counts what it would have needed alone
  for (const Importance& one : computed) {
    passes.forward = std::max(passes.forward, one.forward);
    passes.backward = std::max(passes.backward, one.backward);
  }
  return passes;
}

}  // namespace headprune
