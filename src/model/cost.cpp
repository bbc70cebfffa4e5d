#include "model/cost.h"

#include "model/attention.h"

namespace headprune {

ModelCost model_cost(Model& model, const HeadSet& removed, const TextLengths& lengths) {
  ModelCost cost{parameter_count(model), model.attention_flops_per_token(lengths)};
  const Blocks blocks = model.blocks();
  for (size_t b = 0; b < blocks.size(); ++b) {
    const Attention& attention = model.attention(b);
    const int64_t widths = 2 * attention.key_width() + 2 * attention.value_width();
    int64_t gone = 0;
    for (const int64_t head : blocks[b].heads) gone += removed.contains({blocks[b].id, head}) ? 1 : 0;
    // A head owns rows of q, k and v with their biases, and columns of the output projection, whose bias stays.
    cost.params -= gone * (attention.d_model() * widths + 2 * attention.key_width() + attention.value_width());
    cost.attention_flops_per_token -=
        gone * (2 * attention.d_model() * widths + lengths.keys(blocks[b].id.kind) * widths);
  }
  return cost;
}

}  // namespace headprune
