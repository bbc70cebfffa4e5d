#include "run/rules.h"

#include <algorithm>

namespace headprune {

SeedRule sweep_rule(const Experiment& experiment, size_t sweep, const Blocks& blocks, int64_t seed) {
  const auto& item = experiment.prune.sweeps.at(sweep);
  SeedRule rule{.label = item.label, .rule = item.make(), .plan = {}};
  rule.plan =
      rule.rule->plan({.seed = seed,
                       .sweep = item.label,
                       .rule = item.name(),
                       .at_step = rule.rule->at_step(),
                       .blocks = blocks,
                       .methods = chosen_methods(method_draws(experiment.score, blocks), rule.rule->methods())});
  return rule;
}

std::vector<SeedRule> sweep_rules(const Experiment& experiment, const Blocks& blocks, int64_t seed) {
  std::vector<SeedRule> rules;
  for (size_t i = 0; i < experiment.prune.sweeps.size(); ++i) rules.push_back(sweep_rule(experiment, i, blocks, seed));
  return rules;
}

std::vector<SeedRule> table_rules(const Experiment& experiment, const Blocks& blocks, int64_t seed) {
  std::vector<SeedRule> rules;
  const std::vector<MethodDraws> methods =
      chosen_methods(method_draws(experiment.score, blocks), experiment.sensitivity.methods);
  for (const NamedTable& table : make_tables(experiment.sensitivity))
    rules.push_back(
        {.label = table.name,
         .rule = table.rule,
         .plan = table.rule->plan({.seed = seed, .sweep = "", .rule = "", .blocks = blocks, .methods = methods})});
  return rules;
}

double pass_share(const Point& point, const Blocks& blocks) {
  if (point.intact()) return point.spec.rule == "none" ? 1 : 0;
  if (point.fine_tuned) return 1;
  // Every order ends at the same mask, which is evaluated once.
  if (!point.spec.method.empty() && point.spec.heads_removed == point.heads_total) return 0;
  for (size_t b = 0; b < blocks.size(); ++b) {
    const bool of_table =
        point.spec.layer && to_string(blocks[b].id.kind) == point.spec.kind && blocks[b].id.layer == *point.spec.layer;
    const bool loses = std::any_of(blocks[b].heads.begin(), blocks[b].heads.end(), [&](int64_t head) {
      return point.removed.contains({blocks[b].id, head});
    });
    if (of_table || loses) return static_cast<double>(blocks.size() - b) / static_cast<double>(blocks.size());
  }
  return 1;  // which heads go is not known yet
}

}  // namespace headprune
