// Which heads a rule or table may touch: the options that all of them have.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/fields.h"
#include "core/heads.h"

namespace headprune {

/// Heads by the roles that the experiment's analyses give; nothing while they have not run.
using RoleHeads = std::map<std::string, std::optional<HeadSet>>;

struct AllowedOptions {
  std::optional<std::vector<std::string>> only;
  std::optional<std::vector<int64_t>> layers;
  std::optional<std::vector<std::string>> protect;

  template <class V>
  void fields(V& v) {
    const auto some = [](const auto& list) {
      return std::string(list && list->empty() ? "expected an entry; leave the key out for all heads" : "");
    };
    v("only", only, "blocks (encoder.L3) and heads (encoder.L0.H7) that may be removed, and no others; absent: all",
      some);
    v("layers", layers, "layers whose heads may be removed, of every kind of attention; absent: all", some);
    v("protect", protect,
      "blocks, heads and roles (a name that one of analyses.methods gives, such as positional) whose heads stay; "
      "fractions are of what may go",
      some);
  }

  /// Heads that may not be removed; of roles that are not known yet, none. Throws Error(usage) for names that do not
  /// exist, with what exists.
  HeadSet fixed(const Blocks& blocks, const RoleHeads& roles) const;
  /// The protected roles that are not known yet.
  std::vector<std::string> unknown_roles(const RoleHeads& roles) const;
  bool any() const { return only || layers || protect; }
};

}  // namespace headprune
