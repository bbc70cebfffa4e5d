#include "model/memory.h"

#include <algorithm>

#include "model/attention.h"

namespace headprune {
namespace {

/// float32 numbers, in double: shapes that are refused may be of any size.
using Numbers = double;

/// One attention block's weights: [B, H, T, S].
Numbers weights_of(const BlockHeads& block, const BatchShape& batch) {
  const auto source = static_cast<Numbers>(batch.tokens), target = static_cast<Numbers>(batch.decoder_tokens);
  const bool writes = batch.decoder_tokens > 0 && block.id.kind != Kind::encoder;
  const Numbers queries = writes ? target : source;
  const Numbers keys = writes && block.id.kind == Kind::decoder ? target : source;
  return static_cast<Numbers>(batch.examples) * static_cast<Numbers>(block.count()) * queries * keys;
}

struct LayerWidths {
  Numbers widest = 0, all = 0;  // outputs of projections
};

LayerWidths widths_of(const TransformerModel& model) {
  LayerWidths widths;
  for (const auto& module : model.modules(/*include_self=*/false))
    if (const auto* projection = dynamic_cast<const Projection*>(module.get())) {
      widths.widest = std::max(widths.widest, static_cast<Numbers>(projection->weight.size(0)));
      widths.all += static_cast<Numbers>(projection->weight.size(0));
    }
  return widths;
}

/// Logits of every written position, and what losses make of them.
Numbers written_numbers(const TransformerConfig& sizes, const BatchShape& batch, const PassUse& use) {
  if (sizes.architecture == Architecture::encoder) return 0;
  const int64_t positions = sizes.writes_from_source() ? batch.decoder_tokens : batch.tokens;
  const int64_t vocabulary = sizes.writes_from_source() ? sizes.written_tokens() : sizes.vocabulary_size;
  return static_cast<Numbers>(batch.examples) * static_cast<Numbers>(positions) * static_cast<Numbers>(vocabulary) *
         (use.gradients ? 3 : 2);
}

/// Whether the last block looks at everything and asks for its first position only.
bool last_is_short(const TransformerModel& model, const PassUse& use) {
  return model.sizes().architecture == Architecture::encoder && model.sizes().pooling == Pooling::cls &&
         !use.attention_weights && !use.block_by_block;
}

/// Attention beyond what stands at each position: nothing where the fused kernel runs but its mask.
Numbers attention_numbers(const TransformerModel& model, const BatchShape& batch, const PassUse& use) {
  const TransformerConfig& sizes = model.sizes();
  const bool dropped = use.training && sizes.dropout > 0;
  if (!use.attention_weights && !use.block_by_block && !dropped && sizes.d_key == sizes.d_value) {
    const auto longest = static_cast<Numbers>(std::max(batch.tokens, batch.decoder_tokens));
    const bool causal = sizes.architecture != Architecture::encoder;
    return causal ? static_cast<Numbers>(batch.examples) * longest * longest * 1.25 : 0;
  }
  Numbers kept = 0, largest = 0;
  Blocks blocks = model.blocks();
  if (last_is_short(model, use)) blocks.pop_back();
  for (const BlockHeads& block : blocks) {
    const Numbers weights = weights_of(block, batch);
    // Weights; with dropout also its factors and the product.
    if (use.gradients || use.attention_weights) kept += weights * (dropped ? 3 : 1.25);
    largest = std::max(largest, weights);
  }
  // Of the block that is computed; analyses make masks and float64 numbers of its weights.
  return kept + (use.block_by_block ? 6 : use.attention_weights ? 3 : 1.5) * largest;
}

}  // namespace

uint64_t pass_bytes(const TransformerModel& model, const BatchShape& batch, const PassUse& use) {
  const LayerWidths widths = widths_of(model);
  const Numbers positions =
      static_cast<Numbers>(batch.examples) * static_cast<Numbers>(batch.tokens + batch.decoder_tokens);
  const auto layers = static_cast<Numbers>(model.sizes().layers + model.sizes().decoder_layers);
  const Numbers whole = last_is_short(model, use) ? (layers - 0.6) / layers : 1;  // its keys and values are all there
  const Numbers width = use.gradients ? 2.1 * widths.all * whole : 4 * widths.widest;
  const Numbers numbers =
      positions * width + written_numbers(model.sizes(), batch, use) + attention_numbers(model, batch, use);
  return static_cast<uint64_t>(std::min(numbers * sizeof(float), 9e18));
}

}  // namespace headprune
