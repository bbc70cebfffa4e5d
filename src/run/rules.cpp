#include "run/rules.h"

#include <algorithm>

namespace headprune {

namespace {

/// Heads by the roles that the experiment's analyses give; of several that give one, all.
RoleHeads role_heads(const Experiment& experiment, const RuleSubject& subject) {
  RoleHeads roles;
  for (const auto& item : experiment.analyses.methods)
    for (const std::string& role : item.make()->roles()) {
      std::optional<HeadSet>& heads = roles[role];
      if (subject.record == nullptr) continue;
      if (!heads) heads.emplace();
      const auto found = subject.record->analyses.find({subject.seed, item.label});
      if (found == subject.record->analyses.end() || !found->second.done)
        fail(ExitCode::run_failed, "analysis {} of seed {} is not recorded, and rules need its roles; --from analyse",
             item.label, subject.seed);
      for (const RoleFact& fact : found->second.done->roles)
        if (fact.role == role) heads->insert(fact.head);
    }
  return roles;
}

}  // namespace

SeedRule sweep_rule(const Experiment& experiment, size_t sweep, const RuleSubject& subject) {
  const auto& item = experiment.prune.sweeps.at(sweep);
  SeedRule rule{.label = item.label, .rule = item.make(), .plan = {}};
  rule.plan = rule.rule->plan(
      {.seed = subject.seed,
       .sweep = item.label,
       .rule = item.name(),
       .at_step = rule.rule->at_step(),
       .blocks = subject.blocks,
       .roles = role_heads(experiment, subject),
       .methods = chosen_methods(method_draws(experiment.score, subject.blocks), rule.rule->methods())});
  return rule;
}

std::vector<SeedRule> sweep_rules(const Experiment& experiment, const RuleSubject& subject) {
  std::vector<SeedRule> rules;
  for (size_t i = 0; i < experiment.prune.sweeps.size(); ++i) rules.push_back(sweep_rule(experiment, i, subject));
  return rules;
}

std::vector<SeedRule> table_rules(const Experiment& experiment, const RuleSubject& subject) {
  std::vector<SeedRule> rules;
  const std::vector<MethodDraws> methods =
      chosen_methods(method_draws(experiment.score, subject.blocks), experiment.sensitivity.methods);
  for (const NamedTable& table : make_tables(experiment.sensitivity))
    rules.push_back({.label = table.name,
                     .rule = table.rule,
                     .plan = table.rule->plan({.seed = subject.seed,
                                               .sweep = "",
                                               .rule = "",
                                               .blocks = subject.blocks,
                                               .roles = role_heads(experiment, subject),
                                               .methods = methods})});
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
