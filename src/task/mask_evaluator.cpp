#include "task/mask_evaluator.h"

#include "core/stop.h"
#include "model/side_by_side.h"

namespace headprune {

namespace {

/// Where copying the model costs less than what its missing heads save.
constexpr int64_t kRemovedShare = 4;         // one in so many heads
constexpr int64_t kRemovedPositions = 4096;  // of the whole split

}  // namespace

/// How one mask is computed.
struct MaskEvaluator::Mask {
  bool intact = true;
  size_t first = 0;                // else the block that loses a head before any other in a pass
  PerBlock gates;                  // as mask_gates()
  std::shared_ptr<Model> removed;  // without the heads, in place of gates
  torch::Tensor kept;              // with `removed`: positions of the first block's heads that stay, [H']
};

MaskEvaluator::MaskEvaluator(Model& model, const Task& task, const std::vector<Batch>& batches, int64_t memory)
    : model_(model),
      task_(task),
      batches_(batches),
      blocks_(model.blocks()),
      order_(model.order()),
      places_(order_.size()),
      at_once_(batches_at_once(model, batches, PassKind::forward)),
      memory_(memory),
      kept_(batches.size()) {
  for (size_t place = 0; place < order_.size(); ++place) places_[order_[place]] = place;
  for (const Batch& batch : batches) {
    examples_ += batch.size();
    positions_ += batch.tokens.numel();
  }
}

Outcomes MaskEvaluator::evaluate(const HeadSet& removed, const Tokenizer* tokenizer) {
  const FrozenModel frozen(model_);
  const Mask mask = prepare(removed);
  Outcomes results(static_cast<size_t>(examples_));
  side_by_side(batches_.size(), at_once_, [&](size_t turn) {
    check_stop();
    const size_t i = batches_.size() - 1 - turn;  // the longest first, so that the last to end does so soon
    const torch::NoGradGuard no_grad;             // of this thread
    const Batch& batch = batches_[i];
    const ModelOutput output = this->output(i, mask);
    Outcomes found = task_.outcomes(output.values, batch);
    Model& used = mask.removed ? *mask.removed : model_;
    if (tokenizer) task_.write({used, batch, output.memory, mask.gates, *tokenizer}, found);
    return [&, found = std::move(found)]() mutable {
      for (size_t row = 0; row < found.size(); ++row) {
        const int64_t example = batch.examples[row];
        TORCH_CHECK(example >= 0 && example < examples_, "the batches do not cover a split");
        results[static_cast<size_t>(example)] = std::move(found[row]);
      }
    };
  });
  return results;
}

MaskEvaluator::Mask MaskEvaluator::prepare(const HeadSet& removed) const {
  Mask mask;
  int64_t gone = 0, all = 0;
  std::vector<int64_t> kept;
  for (const size_t b : order_) {
    std::vector<int64_t> stay;
    for (int64_t h = 0; h < blocks_[b].count(); ++h)
      if (!removed.contains({blocks_[b].id, blocks_[b].heads[static_cast<size_t>(h)]})) stay.push_back(h);
    all += blocks_[b].count();
    gone += blocks_[b].count() - std::ssize(stay);
    if (!mask.intact || std::ssize(stay) == blocks_[b].count()) continue;
    mask.intact = false;
    mask.first = b;
    kept = std::move(stay);
  }
  if (mask.intact || batches_.empty()) return mask;
  const torch::Device device = batches_.front().tokens.device();
  if (gone * kRemovedShare < all || positions_ < kRemovedPositions) {
    mask.gates = mask_gates(blocks_, removed, device);
    return mask;
  }
  mask.removed = model_.copy();
  mask.removed->remove_heads(removed);
  mask.kept = torch::tensor(kept, torch::kInt64).to(device);  // [H']
  return mask;
}

ModelOutput MaskEvaluator::output(size_t batch, const Mask& mask) {
  if (mask.intact) return model_.forward(batches_[batch]);
  Paused paused = paused_at(batch, mask.first);
  if (!mask.removed) return model_.resume(batches_[batch], paused, mask.gates);
  if (paused.context.defined()) paused.context = paused.context.index_select(1, mask.kept);  // [B, H', T, Dv]
  return mask.removed->resume(batches_[batch], paused, {});
}

Paused MaskEvaluator::paused_at(size_t batch, size_t block) {
  const auto& kept = kept_[batch];
  const auto above = kept.upper_bound(places_[block]);
  const Paused* nearest = above == kept.begin() ? nullptr : &std::prev(above)->second;
  if (nearest && nearest->block == block) return *nearest;
  Paused paused = model_.pause(batches_[batch], block, nearest);
  keep(batch, paused);
  return paused;
}

/// Tables go block by block upwards, so what a batch has of earlier blocks makes room first. Other batches keep theirs:
/// giving those up would only make them be computed again.
void MaskEvaluator::keep(size_t batch, const Paused& paused) {
  auto& kept = kept_[batch];
  const int64_t bytes = paused.bytes();
  const std::lock_guard lock(mutex_);
  while (kept_bytes_ + bytes > memory_ && !kept.empty()) {
    kept_bytes_ -= kept.begin()->second.bytes();
    kept.erase(kept.begin());
  }
  if (kept_bytes_ + bytes > memory_) return;
  kept.emplace(places_[paused.block], paused);
  kept_bytes_ += bytes;
}

}  // namespace headprune
