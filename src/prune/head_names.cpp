#include "prune/head_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "core/text.h"

namespace headprune {
namespace {

/// "L3" with letter 'L' is 3; nothing for anything else.
std::optional<int64_t> number_after(char letter, std::string_view text) {
  if (text.size() < 2 || text[0] != letter) return std::nullopt;
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 1, end, number);
  if (error != std::errc() || stop != end || number < 0) return std::nullopt;
  return number;
}

std::optional<BlockId> block_of(const std::vector<std::string_view>& parts) {
  const auto layer = number_after('L', parts[1]);
  for (const Kind kind : {Kind::encoder, Kind::decoder, Kind::cross})
    if (layer && parts[0] == to_string(kind)) return BlockId{kind, *layer};
  return std::nullopt;
}

std::string range_text(const std::string& first, const std::string& last) {
  return first == last ? first : first + " to " + last;
}

}  // namespace

std::optional<BlockId> parse_block(const std::string& text) {
  const auto parts = split(text, '.');
  return parts.size() == 2 ? block_of(parts) : std::nullopt;
}

std::optional<HeadId> parse_head(const std::string& text) {
  const auto parts = split(text, '.');
  if (parts.size() != 3) return std::nullopt;
  const auto block = block_of(parts);
  const auto head = number_after('H', parts[2]);
  return block && head ? std::optional(HeadId{*block, *head}) : std::nullopt;
}

std::string blocks_text(const Blocks& blocks) {
  struct Range {
    BlockId first, last;
    int64_t least = 0, most = 0;
  };
  std::map<Kind, Range> ranges;
  for (const BlockHeads& block : blocks) {
    if (block.heads.empty()) continue;
    const auto [least, most] = std::minmax_element(block.heads.begin(), block.heads.end());
    Range& range = ranges.emplace(block.id.kind, Range{block.id, block.id, *least, *most}).first->second;
    range.last = block.id;
    range.least = std::min(range.least, *least);
    range.most = std::max(range.most, *most);
  }
  std::vector<std::string> parts;
  for (const auto& [kind, range] : ranges)
    parts.push_back(fmt::format("{} with heads {}", range_text(to_string(range.first), to_string(range.last)),
                                range_text(fmt::format("H{}", range.least), fmt::format("H{}", range.most))));
  return parts.empty() ? "no head" : join(parts, ", ");
}

}  // namespace headprune
