#include "model/cost.h"

#include "model/attention.h"

namespace headprune {

ModelCost model_cost(Model& model, const HeadSet& removed, const TextLengths& lengths) {
  ModelCost cost{.params = parameter_count(model)};
  const Blocks blocks = model.blocks();
  for (size_t b = 0; b < blocks.size(); ++b) {
    const Attention& attention = model.attention(b);
    const int64_t keys = lengths.keys(blocks[b].id.kind);
    const std::shared_ptr<const Pattern> pattern = model.pattern(b);
    const AttentionCost left =
        attention.cost(keys, removed.in_block(blocks[b].id), pattern ? *pattern : *full_pattern());
    cost.params -= attention.cost(keys).params - left.params;
    cost.attention_flops_per_token += left.flops_per_token;
    if (blocks[b].id.kind == Kind::decoder)
      cost.kv_cache_bytes_per_token = cost.kv_cache_bytes_per_token.value_or(0) + left.cache_bytes_per_token;
  }
  return cost;
}

}  // namespace headprune
