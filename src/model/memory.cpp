#include "model/memory.h"

#include <algorithm>

#include "model/attention.h"
#include "model/local_pattern.h"

namespace headprune {
namespace {

/// float32 numbers, in double: shapes that are refused may be of any size.
using Numbers = double;

/// Pairs of queries and keys of one attention block, and what a window that is computed by blocks copies.
struct BlockNumbers {
  Numbers weights = 0;  // [B, H, T, S], or of each block of queries
  Numbers copies = 0;   // of keys and values, for the blocks that they are near
  Numbers mask = 0;     // of a pattern that hides keys
};

BlockNumbers numbers_of_block(const TransformerModel& model, size_t index, const BatchShape& batch,
                              const PassUse& use) {
  const BlockHeads block = model.blocks()[index];
  const bool writes = batch.decoder_tokens > 0 && block.id.kind != Kind::encoder;
  const int64_t queries = writes ? batch.decoder_tokens : batch.tokens;
  const int64_t keys = writes && block.id.kind == Kind::decoder ? batch.decoder_tokens : batch.tokens;
  const Numbers asking = static_cast<Numbers>(batch.examples) * static_cast<Numbers>(block.count()) *
                         static_cast<Numbers>(queries);  // B H T
  const std::optional<Reach> reach = model.pattern(index)->reach();
  if (reach && queries == keys && !use.attention_weights && !use.block_by_block)
    if (const LocalBlocks blocks(*reach, queries); blocks.pays()) {
      const auto near = static_cast<Numbers>(blocks.extent().keys);
      const auto widths = static_cast<Numbers>(model.sizes().d_key + model.sizes().d_value);
      return {.weights = asking * near,
              .copies = asking * near * widths / static_cast<Numbers>(blocks.extent().queries),
              .mask = static_cast<Numbers>(batch.examples) * static_cast<Numbers>(queries) * near};
    }
  const Numbers weights = asking * static_cast<Numbers>(keys);
  const bool hides = block.id.kind == Kind::decoder || !model.sizes().patterns.empty();
  const bool by_head = model.pattern(index)->by_head();
  const Numbers heads = by_head ? 1 : static_cast<Numbers>(std::max<int64_t>(1, block.count()));
  return {.weights = weights, .copies = 0, .mask = hides ? 1.25 * weights / heads : 0};
}

/// What positions inside attention make of each weight of a block.
struct PositionNumbers {
  bool weights = false;         // the fused kernel does not run, or not where gradients are taken
  Numbers kept = 0, spent = 0;  // beside the weights themselves: for a backward pass, and while the block is computed
};

/// In training as measured of encoders 64 wide, at 512 tokens (learned positions 309 MiB, t5 729, transformer_xl
/// 847, shaw 1,537, without values 790).
PositionNumbers numbers_of_positions(const TransformerConfig& sizes, const PassUse& use) {
  switch (sizes.positions) {
    case Positions::alibi:
      return {.weights = false, .kept = 0, .spent = 1};
    case Positions::t5:
      return {.weights = use.gradients, .kept = 0, .spent = use.gradients ? 0.5 : 1};
    case Positions::transformer_xl:
      return {.weights = use.gradients, .kept = 0.5, .spent = use.gradients ? 1.0 : 4.0};
    case Positions::shaw:
      if (!sizes.shaw_values) return {.weights = use.gradients, .kept = 0.25, .spent = use.gradients ? 0.5 : 4};
      return {.weights = true, .kept = 3, .spent = use.gradients ? 1.5 : 5.0};
    case Positions::learned:
    case Positions::sinusoidal:
    case Positions::sinusoidal_halves:
    case Positions::rotary:
    case Positions::none:
      break;
  }
  return {};
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
  const PositionNumbers positions = numbers_of_positions(sizes, use);
  Numbers kept = 0, copied = 0, largest = 0, mask = 0;
  const size_t count = model.blocks().size() - (last_is_short(model, use) ? 1 : 0);
  for (size_t i = 0; i < count; ++i) {
    const auto [weights, copies, hidden] = numbers_of_block(model, i, batch, use);
    // Weights; with dropout also its factors and the product.
    if (use.gradients || use.attention_weights) kept += weights * ((dropped ? 3 : 1.25) + positions.kept);
    copied = use.gradients ? copied + copies : std::max(copied, copies);
    largest = std::max(largest, weights);
    mask = std::max(mask, hidden);
  }
  if (!use.attention_weights && !use.block_by_block && !dropped && !positions.weights && sizes.d_key == sizes.d_value)
    return mask + positions.spent * largest + copied;
  // Of the block that is computed; analyses make masks and float64 numbers of its weights.
  return kept + copied + ((use.block_by_block ? 6 : use.attention_weights ? 3 : 1.5) + positions.spent) * largest;
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
