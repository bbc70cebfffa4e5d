// The one driver of all analyses.
#include "analysis/analysis.h"
#include "core/error.h"
#include "core/stop.h"
#include "core/text.h"
#include "model/attention.h"
#include "model/side_by_side.h"
#include "score/accumulate.h"

namespace headprune {

const torch::Tensor& BlockView::key_ids() const {
  return block.id.kind == Kind::decoder && batch.decoder_tokens.defined() ? batch.decoder_tokens : batch.tokens;
}

const torch::Tensor& BlockView::key_present() const {
  return block.id.kind == Kind::decoder && batch.decoder_tokens.defined() ? batch.decoder_present : batch.present;
}

torch::Tensor largest_keys(const torch::Tensor& weights) {
  const auto [value, key] = weights.max(-1, /*keepdim=*/true);  // [..., 1]
  const torch::Tensor shared = weights.eq(value).sum(-1) > 1;   // [...]
  return key.squeeze(-1).masked_fill(shared, -1);               // [...]
}

namespace {

/// An analysis at work, with the place of its result.
struct Running {
  size_t place = 0;
  std::unique_ptr<Analysis::Pass> pass;
};

/// Every block of one batch, shown to one part of each pass.
std::vector<std::shared_ptr<Analysis::Part>> look_at(const Batch& batch, const std::vector<Running>& all,
                                                     Model& model) {
  std::vector<std::shared_ptr<Analysis::Part>> parts;
  for (const Running& one : all) parts.push_back(one.pass->look(batch));
  const Blocks blocks = model.blocks();
  HeadProbe probe;
  probe.see = [&](size_t index, const HeadContexts& heads) {
    const BlockHeads& block = blocks[index];
    if (block.heads.empty()) return;
    const torch::Tensor queries = query_mask(batch, block.id.kind);  // [B, 1, T]
    const BlockView view{.index = index,
                         .block = block,
                         .batch = batch,
                         .weights = heads.weights,
                         .context = heads.context,
                         .visible = visible_keys(model, index, batch).logical_and(queries.unsqueeze(-1)),
                         .largest = largest_keys(heads.weights)};
    for (const auto& part : parts) part->see(view);
  };
  model.forward(batch, probe);
  return parts;
}

/// One pass over the same texts for `all`.
void pass_over(const std::vector<Running>& all, const std::vector<Batch>& batches, const AnalysisInput& input) {
  side_by_side(batches.size(), batches_at_once(input.model, batches, PassKind::forward), [&](size_t i) {
    check_stop();
    const torch::NoGradGuard no_gradients;
    return [&, parts = look_at(batches[i], all, input.model)] {
      for (size_t k = 0; k < all.size(); ++k) all[k].pass->add(*parts[k]);
      if (input.on_batch) input.on_batch();
    };
  });
}

void finish(const std::vector<Running>& all, const std::vector<Batch>& batches, double start,
            std::vector<AnalysisResult>& results) {
  int64_t examples = 0;
  for (const Batch& batch : batches) examples += batch.size();
  for (const Running& one : all) {
    AnalysisResult& result = results[one.place] = one.pass->finish();
    result.examples = examples;
    result.forward = std::ssize(batches);
    result.dur_s = monotonic_seconds() - start;
  }
}

}  // namespace

void require_like_heads(const Model& model) {
  const Blocks blocks = model.blocks();
  for (size_t i = 0; i < blocks.size(); ++i)
    if (const auto pattern = model.pattern(i); pattern && pattern->by_head())
      fail(ExitCode::usage,
           "analyses: heads of {} see different keys (model.attention), and what they do is compared within a block; "
           "leave `analyses` out, or give the pattern heads of one kind",
           to_string(blocks[i].id));
}

std::vector<AnalysisResult> analyse(const std::vector<std::shared_ptr<const Analysis>>& analyses,
                                    const AnalysisInput& input) {
  require_like_heads(input.model);
  const FrozenModel frozen(input.model);
  std::vector<AnalysisResult> results(analyses.size());
  std::vector<Running> sharing;
  const auto run = [&](const std::vector<Running>& all, const std::vector<Batch>& batches) {
    const double start = monotonic_seconds();
    pass_over(all, batches, input);
    finish(all, batches, start, results);
  };
  for (size_t i = 0; i < analyses.size(); ++i) {
    Running one{.place = i, .pass = analyses[i]->start(input)};
    std::vector<Running> alone;
    const std::vector<Batch>* const own = one.pass->own_batches();
    (own ? alone : sharing).push_back(std::move(one));
    if (own) run(alone, *own);
  }
  if (!sharing.empty()) run(sharing, input.batches);
  return results;
}

}  // namespace headprune
