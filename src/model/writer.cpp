#include "model/writer.h"

namespace headprune {

torch::Tensor WriterState::present(int64_t positions) const {
  if (!padding.defined()) return {};
  return torch::arange(positions, padding.options()).ge(padding.unsqueeze(1));  // [N, positions]
}

void WriterState::select(const torch::Tensor& rows, const torch::Tensor& kept) {
  for (KeyValueCache& layer : written) layer.select(rows);
  if (padding.defined()) padding = padding.index_select(0, rows);  // [N']
  if (!kept.defined()) return;
  for (KeyValues& layer : source)
    layer = {layer.keys.index_select(0, kept), layer.values.index_select(0, kept)};     // [B', H, S, ...]
  if (source_present.defined()) source_present = source_present.index_select(0, kept);  // [B', S]
  sentences = kept.size(0);
}

torch::Tensor padding_of(const Batch& batch) {
  if (!batch.padded) return {};
  return batch.present.logical_not().sum(1);  // [B]
}

torch::Tensor texts_at_end(const Batch& batch) {
  const torch::Tensor padding = padding_of(batch);
  if (!padding.defined()) return batch.tokens;
  const torch::Tensor columns = torch::arange(batch.tokens.size(1), padding.options());  // [T]
  return batch.tokens.gather(1, (columns - padding.unsqueeze(1)).clamp_min(0));          // [B, T]
}

}  // namespace headprune
