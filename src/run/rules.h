// The rules of an experiment - sweeps, then sensitivity tables - with what each will evaluate for one seed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "record/record.h"
#include "run/experiment.h"

namespace headprune {

struct SeedRule {
  std::string label;  // of the sweep, or the table's name
  std::shared_ptr<const PruneRule> rule;
  RulePlan plan;
};

/// What a rule is planned for.
struct RuleSubject {
  const Blocks& blocks;
  int64_t seed = 0;
  const Record* record = nullptr;  // which holds what the analyses found; null before they have run
};

/// Throws Error(usage) as PruneRule::plan() and chosen_methods() do.
SeedRule sweep_rule(const Experiment& experiment, size_t sweep, const RuleSubject& subject);
std::vector<SeedRule> sweep_rules(const Experiment& experiment, const RuleSubject& subject);
std::vector<SeedRule> table_rules(const Experiment& experiment, const RuleSubject& subject);

/// Share of a whole pass that a mask is expected to cost, the blocks below its first missing head being shared:
/// 0 where no head goes, or every one that may: other points have these masks.
double pass_share(const Point& point, const Blocks& blocks);

}  // namespace headprune
