#include "prune/order.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"
#include "core/text.h"

namespace headprune {

bool may_go(const BlockId& block, const std::vector<Kind>& kinds) {
  return kinds.empty() || std::find(kinds.begin(), kinds.end(), block.kind) != kinds.end();
}

std::vector<HeadId> eligible_units(const Blocks& blocks, const OrderLimits& limits) {
  std::vector<HeadId> units = all_heads(blocks);
  std::erase_if(units,
                [&](const HeadId& unit) { return !may_go(unit.block, limits.kinds) || limits.fixed.contains(unit); });
  return units;
}

int64_t eligible(const BlockHeads& block, const OrderLimits& limits) {
  return may_go(block.id, limits.kinds) ? block.count() - std::ssize(limits.fixed.in_block(block.id)) : 0;
}

int64_t removable(const BlockHeads& block, const OrderLimits& limits) {
  // So many units that at least min_heads_per_layer heads stay.
  const int64_t stay = (limits.min_heads_per_layer + limits.heads_per_unit - 1) / limits.heads_per_unit;
  return std::min(eligible(block, limits), std::max<int64_t>(0, block.count() - stay));
}

namespace {

const char* units_word(const OrderLimits& limits) { return limits.unit == HeadUnit::query ? "heads" : "groups"; }

/// The number without limits.
RemovalTarget wanted(double fraction, const Blocks& blocks, const OrderLimits& limits) {
  RemovalTarget target;
  if (limits.scope == Scope::global) {
    target.heads = heads_for_fraction(fraction, count_eligible(blocks, limits));
    return target;
  }
  for (const BlockHeads& block : blocks) {
    target.per_block.push_back(heads_for_fraction(fraction, eligible(block, limits)));
    target.heads += target.per_block.back();
  }
  return target;
}

bool reachable(const RemovalTarget& target, const Blocks& blocks, const OrderLimits& limits) {
  int64_t all = 0;
  for (size_t b = 0; b < blocks.size(); ++b) {
    const int64_t in_block = removable(blocks[b], limits);
    if (!target.per_block.empty() && target.per_block[b] > in_block) return false;
    all += in_block;
  }
  return target.heads <= all;
}

}  // namespace

RankedUnits::RankedUnits(const Blocks& heads, HeadUnit unit)
    : unit_(unit), heads_(heads), blocks_(in_units(heads, unit)) {
  if (unit == HeadUnit::query) return;
  std::optional<HeadId> first;
  for (const BlockHeads& block : heads)
    for (const auto& [id, size] : block.heads_by_group()) {
      const HeadId group{block.id, id};
      if (!first) first = group, heads_per_unit_ = size;
      if (size != heads_per_unit_)
        fail(ExitCode::usage,
             "unit: group: {} has {} heads and {} has {}; fractions of groups need groups of one size: use unit: query",
             unit_text(*first, unit), heads_per_unit_, unit_text(group, unit), size);
    }
}

OrderLimits RankedUnits::limits(OrderLimits limits) const {
  limits.unit = unit_;
  limits.heads_per_unit = heads_per_unit_;
  if (unit_ == HeadUnit::query || limits.fixed.empty()) return limits;
  HeadSet fixed;
  for (const HeadId& unit : all_heads(blocks_))
    for (const HeadId& head : heads(HeadSet({unit})).heads())
      if (limits.fixed.contains(head)) fixed.insert(unit);
  limits.fixed = fixed;
  return limits;
}

PerBlock RankedUnits::values(const PerBlock& of_heads, const HeadSet& removed) const {
  const ScoreUnits units(heads_, removed, unit_);
  PerBlock values;
  for (size_t b = 0; b < of_heads.size(); ++b) values.push_back(units.mean(of_heads[b], b));  // [U]
  return values;
}

std::vector<HeadId> ascending_order(const Blocks& blocks, const PerBlock& values, const HeadSet& removed,
                                    const std::vector<Kind>& kinds) {
  std::vector<std::pair<double, HeadId>> ranked;
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (!may_go(blocks[b].id, kinds)) continue;
    const torch::Tensor block = values.at(b).to(torch::kCPU, torch::kFloat64).contiguous();  // [H]
    TORCH_CHECK(block.numel() == blocks[b].count(), "an order needs one value a head");
    for (size_t h = 0; h < blocks[b].heads.size(); ++h) {
      const HeadId head{blocks[b].id, blocks[b].heads[h]};
      if (!removed.contains(head)) ranked.emplace_back(block.const_data_ptr<double>()[h], head);
    }
  }
  std::sort(ranked.begin(), ranked.end());  // equal values: by HeadId, which is kind, layer, head
  std::vector<HeadId> order;
  for (const auto& entry : ranked) order.push_back(entry.second);
  return order;
}

int64_t heads_for_fraction(double fraction, int64_t heads) {
  return static_cast<int64_t>(std::floor(fraction * static_cast<double>(heads) + 0.5));
}

std::string kinds_text(const std::vector<Kind>& kinds) {
  std::vector<std::string> words;
  for (const Kind kind : {Kind::encoder, Kind::decoder, Kind::cross})
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) words.emplace_back(to_string(kind));
  return words.empty() ? "all" : join(words, "+");
}

int64_t count_heads(const Blocks& blocks, const std::vector<Kind>& kinds) {
  int64_t count = 0;
  for (const BlockHeads& block : blocks)
    if (may_go(block.id, kinds)) count += block.count();
  if (count == 0)
    fail(ExitCode::usage, "kinds: {}: the model has no head of that kind; name kinds that it has", kinds_text(kinds));
  return count;
}

int64_t count_eligible(const Blocks& blocks, const OrderLimits& limits) {
  if (limits.fixed.empty()) return count_heads(blocks, limits.kinds);
  int64_t count = 0;
  for (const BlockHeads& block : blocks) count += eligible(block, limits);
  if (count == 0)
    fail(ExitCode::usage, "nothing may go: kinds, only, layers and protect leave {} of the model to a removal",
         limits.unit == HeadUnit::query ? "no head" : "no whole group");
  return count;
}

double largest_fraction(const Blocks& blocks, const OrderLimits& limits) {
  int64_t all = 0;
  double tightest = 1;
  for (const BlockHeads& block : blocks) {
    if (eligible(block, limits) == 0) continue;
    all += removable(block, limits);
    tightest = std::min(tightest,
                        static_cast<double>(removable(block, limits)) / static_cast<double>(eligible(block, limits)));
  }
  if (limits.scope == Scope::layer) return tightest;
  return static_cast<double>(all) / static_cast<double>(count_eligible(blocks, limits));
}

RemovalTarget removal_target(double fraction, const Blocks& blocks, const OrderLimits& limits) {
  const int64_t all = count_eligible(blocks, limits);
  RemovalTarget target = wanted(fraction, blocks, limits);
  if (!reachable(target, blocks, limits)) {
    fail(ExitCode::usage,
         "a fraction of {} removes {} of {} {}, which min_heads_per_layer: {} does not allow; the largest fraction "
         "that "
         "can be reached is {:.6g}",
         fraction, target.heads, all, units_word(limits), limits.min_heads_per_layer, largest_fraction(blocks, limits));
  }
  return target;
}

namespace {

/// Of one number of heads.
RemovalTarget counted_target(int64_t heads, const Blocks& blocks, const OrderLimits& limits) {
  if (heads % limits.heads_per_unit != 0)
    fail(ExitCode::usage, "heads: {} is no multiple of {}, the heads of a group: with unit: group whole groups go",
         heads, limits.heads_per_unit);
  const int64_t all = count_eligible(blocks, limits), units = heads / limits.heads_per_unit;
  RemovalTarget target;
  int64_t most = 0;  // that can go, of each block under scope layer
  bool first = true;
  for (const BlockHeads& block : blocks) {
    const bool takes_part = eligible(block, limits) > 0;
    if (limits.scope == Scope::layer) {
      target.per_block.push_back(takes_part ? units : 0);
      target.heads += target.per_block.back();
      if (takes_part) most = first ? removable(block, limits) : std::min(most, removable(block, limits)), first = false;
    } else {
      most += removable(block, limits);
    }
  }
  if (limits.scope == Scope::global) target.heads = units;
  if (units > most)
    fail(ExitCode::usage, "heads: {} cannot go: of the {} that may, {}{} can{}", heads, all * limits.heads_per_unit,
         most * limits.heads_per_unit, limits.scope == Scope::layer ? " of each block" : "",
         limits.min_heads_per_layer > 0 ? fmt::format(" (min_heads_per_layer: {})", limits.min_heads_per_layer) : "");
  return target;
}

}  // namespace

TargetList removal_targets(std::vector<double> fractions, const Blocks& blocks, const OrderLimits& limits) {
  return numbered_targets({std::move(fractions), {}}, blocks, limits);
}

TargetList numbered_targets(const RemovalNumbers& numbers, const Blocks& blocks, const OrderLimits& limits) {
  struct Asked {
    std::string text;
    bool fraction = false;
    RemovalTarget target;
  };
  std::vector<Asked> asked;
  std::vector<double> fractions = numbers.fractions;
  std::sort(fractions.begin(), fractions.end());
  for (const double fraction : fractions)
    asked.push_back({fmt::format("{}", fraction), true, removal_target(fraction, blocks, limits)});
  for (const int64_t heads : numbers.heads)
    asked.push_back({fmt::format("heads: {}", heads), false, counted_target(heads, blocks, limits)});
  std::stable_sort(asked.begin(), asked.end(),
                   [](const Asked& a, const Asked& b) { return a.target.heads < b.target.heads; });
  TargetList list;
  const Asked* last = nullptr;
  for (const Asked& one : asked) {
    if (last == nullptr || last->target.heads != one.target.heads) {
      list.targets.push_back(one.target);
      last = &one;
      continue;
    }
    // Under scope layer two numbers of one sum may take from other blocks; the first of them stands.
    list.messages.push_back(fmt::format("{}{} and {} both remove {} of {} {}: one point",
                                        last->fraction && one.fraction ? "fractions "
                                        : last->fraction               ? "fraction "
                                                                       : "",
                                        last->text, one.text, one.target.heads, count_eligible(blocks, limits),
                                        units_word(limits)));
  }
  return list;
}

HeadSet choose_heads(const std::vector<HeadId>& order, const Blocks& blocks, const OrderLimits& limits,
                     const RemovalTarget& target, const HeadSet& already) {
  std::map<BlockId, int64_t> room;  // heads that may still go from a block
  int64_t gone = 0;
  for (size_t b = 0; b < blocks.size(); ++b) {
    const auto gone_here = static_cast<int64_t>(already.in_block(blocks[b].id).size());
    int64_t in_block = removable(blocks[b], limits);
    if (!target.per_block.empty()) in_block = std::min(in_block, target.per_block[b]);
    room[blocks[b].id] = in_block - gone_here;
    gone += gone_here;
  }
  HeadSet chosen = already;
  for (const HeadId& head : order) {
    if (gone >= target.heads) break;
    if (room[head.block] <= 0 || chosen.contains(head) || limits.fixed.contains(head)) continue;
    chosen.insert(head);
    --room[head.block];
    ++gone;
  }
  if (gone < target.heads) {
    const int64_t all = count_eligible(blocks, limits);
    fail(ExitCode::usage,
         "{} of {} {} were to go, but the order lets only {} go; the largest fraction that can be "
         "reached is {:.6g}",
         target.heads, all, units_word(limits), gone, static_cast<double>(gone) / static_cast<double>(all));
  }
  return chosen;
}

}  // namespace headprune
