#include "core/heads.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>

#include "core/error.h"
#include "core/hash.h"

namespace headprune {
namespace {

constexpr Kind kKinds[] = {Kind::encoder, Kind::decoder, Kind::cross};

std::optional<Kind> find_kind(const std::string& text) {
  for (const Kind kind : kKinds) {
    if (text == to_string(kind)) return kind;
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const std::string& problem) {
  fail(ExitCode::run_failed, "not a set of removed heads such as {{\"encoder\":{{\"0\":[1]}}}}: {}", problem);
}

/// "0", "12"; no sign, no leading zero.
int64_t parse_layer(const std::string& text) {
  int64_t layer = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), layer);
  if (error != std::errc() || layer < 0 || std::to_string(layer) != text) refuse(fmt::format("layer \"{}\"", text));
  return layer;
}

}  // namespace

const char* to_string(Kind kind) {
  switch (kind) {
    case Kind::encoder:
      return "encoder";
    case Kind::decoder:
      return "decoder";
    case Kind::cross:
      return "cross";
  }
  throw std::logic_error("to_string: no such kind");
}

Kind parse_kind(const std::string& text) {
  const auto kind = find_kind(text);
  if (!kind) fail(ExitCode::usage, "unknown kind of attention '{}'; use encoder, decoder or cross", text);
  return *kind;
}

std::string to_string(const BlockId& block) { return fmt::format("{}.L{}", to_string(block.kind), block.layer); }

std::string to_string(const HeadId& head) { return fmt::format("{}.H{}", to_string(head.block), head.head); }

std::vector<HeadId> all_heads(const Blocks& blocks) {
  std::vector<HeadId> result;
  for (const auto& block : blocks) {
    for (const int64_t head : block.heads) result.push_back({block.id, head});
  }
  return result;
}

std::string unit_text(const HeadId& unit, HeadUnit of) {
  if (of == HeadUnit::query) return "head " + to_string(unit);
  return fmt::format("group {}.G{}", to_string(unit.block), unit.head);
}

std::map<int64_t, int64_t> BlockHeads::heads_by_group() const {
  std::map<int64_t, int64_t> counts;
  for (const int64_t head : heads) ++counts[group_of(head)];
  return counts;
}

std::vector<int64_t> BlockHeads::groups() const {
  std::vector<int64_t> ids;
  for (const auto& [group, count] : heads_by_group()) ids.push_back(group);
  return ids;
}

Blocks in_units(const Blocks& blocks, HeadUnit unit) {
  if (unit == HeadUnit::query) return blocks;
  Blocks of_groups;
  for (const BlockHeads& block : blocks) of_groups.push_back({.id = block.id, .heads = block.groups()});
  return of_groups;
}

HeadSet::HeadSet(const std::vector<HeadId>& heads) {
  for (const auto& head : heads) insert(head);
}

void HeadSet::insert(const HeadId& head) {
  auto& in = removed_[head.block];
  const auto place = std::lower_bound(in.begin(), in.end(), head.head);
  if (place == in.end() || *place != head.head) in.insert(place, head.head);
}

bool HeadSet::contains(const HeadId& head) const {
  const auto in = removed_.find(head.block);
  return in != removed_.end() && std::binary_search(in->second.begin(), in->second.end(), head.head);
}

int64_t HeadSet::size() const {
  size_t count = 0;
  for (const auto& [block, in] : removed_) count += in.size();
  return static_cast<int64_t>(count);
}

std::vector<int64_t> HeadSet::in_block(const BlockId& block) const {
  const auto in = removed_.find(block);
  return in == removed_.end() ? std::vector<int64_t>{} : in->second;
}

HeadSet HeadSet::with(const HeadSet& more) const {
  HeadSet both = *this;
  for (const HeadId& head : more.heads()) both.insert(head);
  return both;
}

std::vector<HeadId> HeadSet::heads() const {
  std::vector<HeadId> result;
  for (const auto& [block, in] : removed_) {
    for (const int64_t head : in) result.push_back({block, head});
  }
  return result;
}

Json HeadSet::to_json() const {
  Json json = Json::object();
  for (const auto& [block, in] : removed_) json[to_string(block.kind)][std::to_string(block.layer)] = in;
  return json;
}

HeadSet HeadSet::from_json(const Json& json) {
  if (!json.is_object()) refuse("it is not an object");
  HeadSet set;
  for (const auto& [kind_text, layers] : json.items()) {
    const auto kind = find_kind(kind_text);
    if (!kind) refuse(fmt::format("unknown kind \"{}\"", kind_text));
    if (!layers.is_object()) refuse(fmt::format("\"{}\" is not an object", kind_text));
    for (const auto& [layer_text, heads] : layers.items()) {
      const BlockId block{*kind, parse_layer(layer_text)};
      if (!heads.is_array()) refuse(fmt::format("{} is not a list", to_string(block)));
      int64_t last = -1;
      for (const auto& head : heads) {
        if (!head.is_number_integer() || head.get<int64_t>() <= last) {
          refuse(fmt::format("heads of {} are not ascending whole numbers from 0", to_string(block)));
        }
        last = head.get<int64_t>();
        set.insert({block, last});
      }
    }
  }
  return set;
}

HeadSet heads_of_units(const HeadSet& units, const Blocks& blocks, HeadUnit unit) {
  if (unit == HeadUnit::query) return units;
  HeadSet heads;
  for (const BlockHeads& block : blocks)
    for (const int64_t head : block.heads)
      if (units.contains({block.id, block.group_of(head)})) heads.insert({block.id, head});
  return heads;
}

HeadSet units_without(const HeadSet& removed, const Blocks& blocks, HeadUnit unit) {
  if (unit == HeadUnit::query) return removed;
  HeadSet gone;
  for (const BlockHeads& block : blocks) {
    BlockHeads left = block;
    std::erase_if(left.heads, [&](int64_t head) { return removed.contains({block.id, head}); });
    const std::map<int64_t, int64_t> kept = left.heads_by_group();
    for (const int64_t group : block.groups())
      if (!kept.contains(group)) gone.insert({block.id, group});
  }
  return gone;
}

std::string mask_sha256(const Blocks& blocks, const HeadSet& removed) {
  Sha256 hash;
  int64_t found = 0;
  for (const auto& block : blocks) {
    std::string line = to_string(block.id) + " ";
    for (const int64_t head : block.heads) {
      const bool gone = removed.contains({block.id, head});
      line += gone ? '0' : '1';
      found += gone ? 1 : 0;
    }
    hash.update(line + "\n");
  }
  if (found != removed.size()) throw std::logic_error("mask_sha256: a removed head is not one of the model's");
  return hash.hex();
}

}  // namespace headprune
