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

  const HeadSet nothing_removed;
  const auto key_of = [&](const ScoreRequest& one) { return ScoreKey{run.seed, one.label, one.draw, "", -1}; };
  const auto is_missing = [&](const ScoreKey& key) {
    return std::find(missing.begin(), missing.end(), key) != missing.end();
  };
  const auto mask_done = [&](int64_t done) {
    workspace.progress.say(fmt::format("[score] seed {}: mask {}", run.seed, done));
    workspace.advance(Work::score_mask, 1);
  };
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
                         .on_batch = batch_done,
                         .on_mask = mask_done,
                         .memory = workspace.mask_memory()};
  Passes passes;
  const auto compute = [&](const std::vector<ScoreRequest>& together) {
    const std::vector<Importance> computed = importance(together, input);
    Passes shared;  // one pass serves all methods; each counts what it would have needed alone
    for (size_t i = 0; i < together.size(); ++i) {
      const ScoreKey key = key_of(together[i]);
      scores[{key.method, key.draw}] = computed[i];
      if (is_missing(key)) record_importance(workspace, key, computed[i], run.blocks, nothing_removed);
      shared.forward = std::max(shared.forward, computed[i].forward);
      shared.backward = std::max(shared.backward, computed[i].backward);
      const int64_t expected = together[i].method->masks(run.blocks);
      workspace.progress.skip(Work::score_mask, static_cast<double>(expected - computed[i].masks));
    }
    passes += shared;
    workspace.status.heartbeat();
  };
  // Those that look at the same pass all again, not the missing ones alone: which attention path runs depends on what
  // the pass is asked for, and a continued run must find the same bytes as an uninterrupted one.
  const auto masks = std::stable_partition(requests.begin(), requests.end(), [&](const ScoreRequest& request) {
    return request.method->masks(run.blocks) == 0;
  });
  const std::vector<ScoreRequest> together(requests.begin(), masks);
  if (std::any_of(together.begin(), together.end(), [&](const ScoreRequest& one) { return is_missing(key_of(one)); }))
    compute(together);
  else
    workspace.progress.skip(Work::score_batch, static_cast<double>(workspace.score_batches.size()));
  for (auto one = masks; one != requests.end(); ++one)
    if (is_missing(key_of(*one)))
      compute({*one});
    else
      workspace.progress.skip(Work::score_mask, static_cast<double>(one->method->masks(run.blocks)));
  return passes;
}

}  // namespace headprune
