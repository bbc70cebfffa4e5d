// Names of attention kinds, blocks and heads, and sets of removed heads. Torch-free: model, score, prune, record and
// report all speak of heads. All indices start at 0 and are original ones: they never shift when heads go.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"

namespace headprune {

/// In the order in which blocks are listed and ties are broken.
enum class Kind { encoder, decoder, cross };
const char* to_string(Kind kind);
/// Throws Error(usage) for another word.
Kind parse_kind(const std::string& text);

/// One attention module. Prints as encoder.L3.
struct BlockId {
  Kind kind = Kind::encoder;
  int64_t layer = 0;
  auto operator<=>(const BlockId&) const = default;
};
std::string to_string(const BlockId& block);

/// One head. Prints as encoder.L3.H7.
struct HeadId {
  BlockId block;
  int64_t head = 0;
  auto operator<=>(const HeadId&) const = default;
};
std::string to_string(const HeadId& head);

/// What is scored, ranked and removed as one: a head, or the heads that read the keys and values of one group.
enum class HeadUnit { query, group };
/// "head encoder.L3.H7", "group encoder.L3.G2".
std::string unit_text(const HeadId& unit, HeadUnit of);

/// The original head ids that a block has (or had, in an intact model): ascending, maybe none.
struct BlockHeads {
  BlockId id;
  std::vector<int64_t> heads;
  int64_t heads_per_group = 1;  // of the intact block: head h reads group h div that (Ainslie et al. 2023)

  int64_t group_of(int64_t head) const { return head / heads_per_group; }
  /// Ids of the groups that some head reads, ascending.
  std::vector<int64_t> groups() const;
  /// The same with the number of heads that read each.
  std::map<int64_t, int64_t> heads_by_group() const;

  int64_t count() const { return static_cast<int64_t>(heads.size()); }
  bool operator==(const BlockHeads&) const = default;
};

/// A model's attention modules in the order kind, then layer.
using Blocks = std::vector<BlockHeads>;
std::vector<HeadId> all_heads(const Blocks& blocks);
/// With units in the place of heads: under `group` a block has the ids of the groups that some head of it reads.
Blocks in_units(const Blocks& blocks, HeadUnit unit);

/// A set of removed heads; its complement within the model's blocks is the mask.
class HeadSet {
 public:
  HeadSet() = default;
  explicit HeadSet(const std::vector<HeadId>& heads);
  void insert(const HeadId& head);
  bool contains(const HeadId& head) const;
  int64_t size() const;
  bool empty() const { return removed_.empty(); }
  /// Ascending head ids removed from one block; empty when none.
  std::vector<int64_t> in_block(const BlockId& block) const;
  std::vector<HeadId> heads() const;
  /// With those of `more`.
  HeadSet with(const HeadSet& more) const;
  bool operator==(const HeadSet&) const = default;

  /// {"encoder":{"0":[1],"3":[2,3]}}, empty parts omitted (docs/formats.md section 1).
  Json to_json() const;
  /// Throws Error(run_failed) for another shape.
  static HeadSet from_json(const Json& json);

 private:
  std::map<BlockId, std::vector<int64_t>> removed_;  // sorted; no empty entries
};

/// The heads present of these units.
HeadSet heads_of_units(const HeadSet& units, const Blocks& blocks, HeadUnit unit);
/// The units of which no head present is left without `removed`.
HeadSet units_without(const HeadSet& removed, const Blocks& blocks, HeadUnit unit);

/// SHA-256 of one line per block of the intact model, "encoder.L0 1011\n", 1 = kept (docs/formats.md section 1).
std::string mask_sha256(const Blocks& blocks, const HeadSet& removed);

}  // namespace headprune
