// What attention keeps of the tokens of a text that is written one after another: each is projected once.
#pragma once

#include "model/attention.h"

namespace headprune {

/// Keys and values of one block, of rows that all grow by as many positions at a time. A copy keeps what it was taken
/// of, whatever the original reads afterwards. Windows stay a matter of patterns: nothing is forgotten.
class KeyValueCache {
 public:
  /// What the heads of `attention` give for `x` [N, T, C], which stands behind the positions kept and joins them:
  /// contexts [N, H, T, Dv] and, with `weights`, those of the last position alone, [N, H, 1, S].
  HeadContexts attend(Attention& attention, const torch::Tensor& x, const Visibility& visibility, bool weights);
  /// Adds keys and values of the positions behind those kept.
  void append(const KeyValues& newest);
  /// Goes on with `rows` [N'] int64, indices into the N rows.
  void select(const torch::Tensor& rows);
  /// Positions kept.
  int64_t length() const { return length_; }
  /// Those of the positions kept, oldest first; undefined where there are none.
  KeyValues kept() const;

  KeyValueCache() = default;
  KeyValueCache(const KeyValueCache& other) : room_(other.kept()), length_(other.length_) {}
  KeyValueCache& operator=(const KeyValueCache& other) { return *this = KeyValueCache(other); }
  KeyValueCache(KeyValueCache&&) = default;
  KeyValueCache& operator=(KeyValueCache&&) = default;

 private:
  KeyValues room_;  // [N, G, room, ...], of which the first length_ are taken; grows by doubling
  int64_t length_ = 0;
};

}  // namespace headprune
