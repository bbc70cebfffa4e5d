// Numbers that depend on how far a key stands from a query. The D = T + S - 1 distances j - i of a call are counted up
// from that of the first key to the last query.
#pragma once

#include "model/pattern.h"

namespace headprune {

/// Key less query, [D] int64, ascending.
torch::Tensor call_distances(const Extent& extent, torch::Device device);
/// Numbers of each distance, [H, D], at each query and key, [H, T, S].
torch::Tensor at_keys(const torch::Tensor& of_distances, const Extent& extent);
/// Numbers of each query and distance, [B, H, T, D], at each query and key, [B, H, T, S].
torch::Tensor query_at_keys(const torch::Tensor& of_distances, const Extent& extent);
/// The reverse: numbers of each query and key, [B, H, T, S], by distance, [B, H, T, D]; 0 where there is no such key.
torch::Tensor by_distance(const torch::Tensor& of_keys);

}  // namespace headprune
