#include "prune/allowed.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "prune/head_names.h"

namespace headprune {
namespace {

/// The heads of a block or head that the model has; nothing for another name.
std::optional<HeadSet> named_heads(const std::string& name, const Blocks& blocks) {
  const std::optional<BlockId> block = parse_block(name);
  const std::optional<HeadId> head = parse_head(name);
  HeadSet heads;
  for (const HeadId& one : all_heads(blocks))
    if ((block && one.block == *block) || (head && one == *head)) heads.insert(one);
  return heads.empty() ? std::nullopt : std::optional(heads);
}

std::string role_names(const RoleHeads& roles) {
  std::vector<std::string> names;
  for (const auto& [name, heads] : roles) names.push_back(name);
  return names.empty() ? "of which there are none" : "which are " + join(names, ", ");
}

HeadSet protected_heads(const std::string& name, const Blocks& blocks, const RoleHeads& roles) {
  if (const std::optional<HeadSet> heads = named_heads(name, blocks)) return *heads;
  const auto role = roles.find(name);
  if (role != roles.end()) return role->second.value_or(HeadSet());
  if (parse_block(name) || parse_head(name))
    fail(ExitCode::usage, "protect: the model has no {}; it has {}", name, blocks_text(blocks));
  fail(ExitCode::usage,
       "protect: '{}' is no block or head of the model, which has {}, and none of the roles that analyses.methods "
       "gives, "
       "{}: add the analysis that finds it to analyses.methods, or correct the name",
       name, blocks_text(blocks), role_names(roles));
}

}  // namespace

HeadSet AllowedOptions::fixed(const Blocks& blocks, const RoleHeads& roles) const {
  HeadSet stay;
  const auto keep_others = [&](const auto& allowed) {
    for (const HeadId& head : all_heads(blocks))
      if (!allowed(head)) stay.insert(head);
  };
  if (only) {
    HeadSet named;
    for (const std::string& name : *only) {
      const std::optional<HeadSet> heads = named_heads(name, blocks);
      if (!heads)
        fail(ExitCode::usage, "only: '{}' is no block (encoder.L3) or head (encoder.L3.H7) of the model, which has {}",
             name, blocks_text(blocks));
      named = named.with(*heads);
    }
    keep_others([&](const HeadId& head) { return named.contains(head); });
  }
  if (layers) {
    std::set<int64_t> known;
    for (const BlockHeads& block : blocks)
      if (!block.heads.empty()) known.insert(block.id.layer);
    for (const int64_t layer : *layers)
      if (!known.contains(layer))
        fail(ExitCode::usage, "layers: no layer {} of the model has a head; it has {}", layer, blocks_text(blocks));
    keep_others([&](const HeadId& head) {
      return std::find(layers->begin(), layers->end(), head.block.layer) != layers->end();
    });
  }
  if (protect)
    for (const std::string& name : *protect) stay = stay.with(protected_heads(name, blocks, roles));
  return stay;
}

std::vector<std::string> AllowedOptions::unknown_roles(const RoleHeads& roles) const {
  std::vector<std::string> unknown;
  for (const std::string& name : protect.value_or(std::vector<std::string>()))
    if (const auto role = roles.find(name); role != roles.end() && !role->second) unknown.push_back(name);
  return unknown;
}

}  // namespace headprune
