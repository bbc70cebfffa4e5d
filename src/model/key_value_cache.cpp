#include "model/key_value_cache.h"

#include <algorithm>

namespace headprune {
namespace {

constexpr int64_t kLeastRoom = 64;

/// Room for `positions`, the first of which are those of `kept`.
torch::Tensor with_room(const torch::Tensor& kept, int64_t positions) {
  std::vector<int64_t> shape = kept.sizes().vec();
  shape[2] = positions;
  torch::Tensor room = torch::empty(shape, kept.options());  // [N, G, positions, D]
  room.narrow(2, 0, kept.size(2)).copy_(kept);
  return room;
}

}  // namespace

KeyValues KeyValueCache::kept() const {
  if (!room_.keys.defined()) return {};
  return {room_.keys.narrow(2, 0, length_), room_.values.narrow(2, 0, length_)};  // [N, G, length, ...]
}

void KeyValueCache::append(const KeyValues& newest) {
  const int64_t count = newest.keys.size(2);
  if (!room_.keys.defined()) {
    room_ = newest;
    length_ = count;
    return;
  }
  if (length_ + count > room_.keys.size(2)) {
    const int64_t positions = std::max({kLeastRoom, 2 * length_, length_ + count});
    const KeyValues all = kept();
    room_ = {with_room(all.keys, positions), with_room(all.values, positions)};
  }
  room_.keys.narrow(2, length_, count).copy_(newest.keys);
  room_.values.narrow(2, length_, count).copy_(newest.values);
  length_ += count;
}

HeadContexts KeyValueCache::attend(Attention& attention, const torch::Tensor& x, const Visibility& visibility,
                                   bool weights) {
  const int64_t first = length_, T = x.size(1);
  append(attention.project(x, first));
  const KeyValues all = kept();
  HeadContexts heads = attention.attend(x, all, visibility, weights && T == 1, first);
  if (weights && T > 1)
    heads.weights = attention.attend(x.narrow(1, T - 1, 1), all, visibility, true, first + T - 1).weights;
  return heads;
}

void KeyValueCache::select(const torch::Tensor& rows) {
  const KeyValues all = kept();
  if (!all.keys.defined()) return;                                             // nothing was read yet
  room_ = {all.keys.index_select(0, rows), all.values.index_select(0, rows)};  // [N', G, length, ...]
}

}  // namespace headprune
