// Orders of heads and how many of them go (docs/definitions.md "Orders and pruning rules").
#pragma once

#include <string>
#include <vector>

#include "config/registry.h"
#include "core/heads.h"
#include "model/model.h"
#include "score/score.h"

namespace headprune {

enum class Scope { global, layer };
template <>
struct EnumNames<Scope> {
  static constexpr std::pair<const char*, Scope> names[] = {{"global", Scope::global}, {"layer", Scope::layer}};
};
template <>
struct EnumNames<Kind> {
  static constexpr std::pair<const char*, Kind> names[] = {
      {"encoder", Kind::encoder}, {"decoder", Kind::decoder}, {"cross", Kind::cross}};
};

/// Which heads may go, and how they are ranked against each other. Where groups are ranked, they stand in the place of
/// heads in all that follows, min_heads_per_layer aside.
struct OrderLimits {
  Scope scope = Scope::global;
  std::vector<Kind> kinds;  // empty = all
  int64_t min_heads_per_layer = 0;
  HeadUnit unit = HeadUnit::query;
  int64_t heads_per_unit = 1;
  HeadSet fixed = {};  // that may not go, whatever their rank
};

/// The units that a rule ranks and removes, all of as many heads.
class RankedUnits {
 public:
  /// Throws Error(usage) naming two groups of different numbers of heads: how many heads a fraction of the groups is
  /// would depend on which go.
  RankedUnits(const Blocks& heads, HeadUnit unit);

  /// With units in the place of heads.
  const Blocks& blocks() const { return blocks_; }
  /// `limits` with units in the place of heads: a unit of which one head is fixed stays whole.
  OrderLimits limits(OrderLimits limits) const;
  int64_t heads_per_unit() const { return heads_per_unit_; }
  /// The mean over each unit's heads that are not `removed`: [U] a block, of [H].
  PerBlock values(const PerBlock& of_heads, const HeadSet& removed = {}) const;
  HeadSet heads(const HeadSet& units) const { return heads_of_units(units, heads_, unit_); }
  HeadSet units(const HeadSet& removed) const { return units_without(removed, heads_, unit_); }

 private:
  HeadUnit unit_;
  Blocks heads_, blocks_;
  int64_t heads_per_unit_ = 1;
};

/// The help of the option `unit` of rules.
inline constexpr const char* kRankUnitHelp =
    "query (default): heads go one by one; group: the heads that read one group's keys and values go together, in the "
    "order of the mean of their scores, and fractions are of the groups";

/// How far a removal goes.
struct RemovalTarget {
  int64_t heads = 0;               // removed in all
  std::vector<int64_t> per_block;  // scope layer: removed in each block of the model; empty under scope global
};

/// How many heads go.
struct RemovalNumbers {
  std::vector<double> fractions;  // of those that may
  std::vector<int64_t> heads;     // under scope layer, of each block
};

/// Targets of growing fractions, those that remove the same number merged into one.
struct TargetList {
  std::vector<RemovalTarget> targets;  // ascending
  std::vector<std::string> messages;   // one for each merge
};

/// First to remove first: ascending value, ties by kind, layer, head. Heads of `removed` and of other kinds left out.
std::vector<HeadId> ascending_order(const Blocks& blocks, const PerBlock& values, const HeadSet& removed,
                                    const std::vector<Kind>& kinds);
/// floor(f N + 0.5).
int64_t heads_for_fraction(double fraction, int64_t heads);
/// "all", or the kinds joined by '+' in the order encoder, decoder, cross: the column `kind`.
std::string kinds_text(const std::vector<Kind>& kinds);

/// The units that may go, min_heads_per_layer aside, in the order in which ties are broken.
std::vector<HeadId> eligible_units(const Blocks& blocks, const OrderLimits& limits);
/// Units of a block that may go, min_heads_per_layer aside.
int64_t eligible(const BlockHeads& block, const OrderLimits& limits);
/// N: the units that may go. Throws Error(usage) when there is none.
int64_t count_eligible(const Blocks& blocks, const OrderLimits& limits);
/// N: the heads of `kinds`. Throws Error(usage) when the model has none.
int64_t count_heads(const Blocks& blocks, const std::vector<Kind>& kinds);
/// The largest fraction that `limits` let a sweep reach: under min_heads_per_layer each block keeps that many heads (a
/// block with fewer loses none), and under scope layer the tightest block decides for all.
double largest_fraction(const Blocks& blocks, const OrderLimits& limits);
/// Whether blocks of this kind may lose units.
bool may_go(const BlockId& block, const std::vector<Kind>& kinds);
/// Units of a block that its limits let go, min_heads_per_layer among them.
int64_t removable(const BlockHeads& block, const OrderLimits& limits);
/// Scope global: floor(f N + 0.5) heads; scope layer: floor(f H + 0.5) of each block. Throws Error(usage) naming the
/// largest fraction when the limits do not allow that many.
RemovalTarget removal_target(double fraction, const Blocks& blocks, const OrderLimits& limits);
/// The same for many fractions, in any order.
TargetList removal_targets(std::vector<double> fractions, const Blocks& blocks, const OrderLimits& limits);
/// The same with numbers of heads beside them. Throws Error(usage) for one that cannot go, with how many can.
TargetList numbered_targets(const RemovalNumbers& numbers, const Blocks& blocks, const OrderLimits& limits);

/// `already`, and as many heads from the front of `order` as `target` wants: heads of other kinds and the last
/// min_heads_per_layer of a block are passed over, and the removal goes on down the order.
/// Throws Error(usage) naming the largest fraction when `order` does not hold enough heads.
HeadSet choose_heads(const std::vector<HeadId>& order, const Blocks& blocks, const OrderLimits& limits,
                     const RemovalTarget& target, const HeadSet& already);

}  // namespace headprune
