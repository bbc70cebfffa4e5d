#include "model/distances.h"

namespace headprune {

torch::Tensor call_distances(const Extent& extent, torch::Device device) {
  const int64_t lowest = -(extent.offset + extent.queries - 1);
  return torch::arange(lowest, extent.keys - extent.offset, torch::TensorOptions(torch::kInt64).device(device));  // [D]
}

torch::Tensor at_keys(const torch::Tensor& of_distances, const Extent& extent) {
  // Row t begins T - 1 - t places from the left.
  return of_distances.unfold(1, extent.keys, 1).flip(1);  // [H, T, S]
}

torch::Tensor query_at_keys(const torch::Tensor& of_distances, const Extent& extent) {
  // Key s of row t is number s + T - 1 - t of D in it, and so number t (D - 1) + s + T - 1 of all (Dai et al. 2019,
  // appendix B): behind the first T - 1, rows are one shorter.
  const int64_t T = extent.queries, D = of_distances.size(3);
  if (T == 1) return of_distances;
  const torch::Tensor flat = of_distances.flatten(2, 3).narrow(2, T - 1, T * (D - 1));  // [B, H, T (D - 1)]
  return flat.unflatten(2, {T, D - 1}).narrow(3, 0, extent.keys);                       // [B, H, T, S]
}

torch::Tensor by_distance(const torch::Tensor& of_keys) {
  const int64_t T = of_keys.size(2), S = of_keys.size(3), D = T + S - 1;
  if (T == 1) return of_keys;
  const torch::Tensor flat = at::constant_pad_nd(of_keys, {0, D - 1 - S}).flatten(2, 3);  // [B, H, T (D - 1)]
  return at::constant_pad_nd(flat, {T - 1, 1}).unflatten(2, {T, D});                      // [B, H, T, D]
}

}  // namespace headprune
