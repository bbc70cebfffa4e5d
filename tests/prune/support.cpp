#include "support.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "config/load.h"
#include "core/files.h"

namespace headprune::test {

Blocks encoder_blocks(const std::vector<int64_t>& sizes) {
  Blocks blocks;
  for (size_t layer = 0; layer < sizes.size(); ++layer) {
    blocks.push_back({{Kind::encoder, static_cast<int64_t>(layer)}, {}});
    for (int64_t head = 0; head < sizes[layer]; ++head) blocks.back().heads.push_back(head);
  }
  return blocks;
}

bool NotingHost::done(const PointSpec& spec) const {
  const auto same = [&](const PlannedPoint& point) { return point.spec.identity() == spec.identity(); };
  return std::any_of(known.begin(), known.end(), same) || std::any_of(points.begin(), points.end(), same);
}

void NotingHost::evaluate(Model& model, const PlannedPoint& point) {
  if (done(point.spec)) return;
  if (points.size() >= stop_after) throw Stopped();
  points.push_back(point);
  trained_at_point.push_back(dynamic_cast<HeadsOnly&>(model).steps_trained);
}

Importance NotingHost::scores_now(const HeadSet& removed, int64_t trained) const {
  Importance importance;
  for (const BlockHeads& block : blocks_) {
    std::vector<double> values;
    for (const int64_t head : block.heads) {
      const HeadId id{block.id, head};
      values.push_back(removed.contains(id) ? 0.0 : scores_(id, removed, trained));
    }
    importance.values.push_back(torch::tensor(values, torch::kFloat64));
  }
  importance.forward = 10;
  importance.backward = 20;
  return importance;
}

Importance NotingHost::intact_scores(const RankedBy& by) {
  calls.push_back(fmt::format("intact {} {}", by.method, by.draw));
  return scores_now({}, 0);
}

Importance NotingHost::score_again(Model& model, const Rescoring& how) {
  calls.push_back(
      fmt::format("again {} {} {} step {} without {}", how.method, how.draw, how.sweep, how.step, how.removed.size()));
  return scores_now(how.removed, dynamic_cast<HeadsOnly&>(model).steps_trained);
}

std::pair<int64_t, int64_t> NotingHost::fine_tune(Model& model, const HeadSet& removed, const FineTuning& how) {
  calls.push_back(fmt::format("train {} {} without {}", how.name, how.steps, removed.size()));
  if (!how.goes_on_from.empty()) calls.back() += " after " + how.goes_on_from;
  dynamic_cast<HeadsOnly&>(model).steps_trained += how.steps;
  return {how.steps, how.steps};
}

std::pair<int64_t, int64_t> NotingHost::learn_gates(Model& model, const GateLearning& how) {
  calls.push_back(fmt::format("learn {} {}{}", how.name, how.steps, how.gates.train_weights ? " with weights" : ""));
  if (how.gates.train_weights) dynamic_cast<HeadsOnly&>(model).steps_trained += how.steps;
  learn(*how.gates.source, how);
  return {how.steps, how.steps};
}

void NotingHost::record(LearnedHeads found) { learned.push_back(std::move(found)); }

void NotingHost::warn(const std::string& code, const std::string&) { calls.push_back("warn " + code); }

std::optional<Point> NotingHost::recorded(const PointSpec& spec) const {
  for (const auto* list : {&known, &points})
    for (const PlannedPoint& point : *list)
      if (point.spec.identity() == spec.identity()) return point;
  return std::nullopt;
}

SelectValues NotingHost::select(const HeadSet& gone, const std::vector<HeadSet>& masks) {
  calls.push_back(fmt::format("select {}", masks.size()));
  if (!gone.empty()) calls.back() += fmt::format(" without {}", gone.size());
  SelectValues result;
  for (const HeadSet& mask : masks) result.values.push_back(select_value(gone.with(mask)));
  result.forward = 3 * static_cast<int64_t>(masks.size());
  return result;
}

std::shared_ptr<Model> NotingHost::converted(int64_t groups, GroupInit init) {
  calls.push_back(fmt::format("convert {} {}", groups, enum_name(init)));
  return std::make_shared<HeadsOnly>(blocks_);
}

namespace {

struct Holder {
  std::vector<PluginItem<PruneRule>> sweeps;
  template <class V>
  void fields(V& v) {
    v("sweeps", sweeps, "rules");
  }
};

}  // namespace

RuleInput sweep_input(const std::string& label, const std::string& rule, const Model& model,
                      std::vector<MethodDraws> methods) {
  return {.seed = 4, .sweep = label, .rule = rule, .blocks = model.blocks(), .methods = std::move(methods)};
}

void run(const PruneRule& rule, const RuleInput& input, Model& model, RuleHost& host) {
  run_rule(rule, rule.plan(input), model, host);
}

void run_tables(const SensitivityOptions& options, const RuleInput& input, Model& model, RuleHost& host) {
  for (const NamedTable& table : make_tables(options)) run(*table.rule, input, model, host);
}

std::vector<PlannedPoint> planned(const PruneRule& rule, const RuleInput& input) {
  std::vector<PlannedPoint> points;
  for (const Unit& unit : rule.plan(input).units) points.insert(points.end(), unit.points.begin(), unit.points.end());
  return points;
}

std::shared_ptr<const PruneRule> make_rule(const std::string& yaml) {
  const auto loaded = load_config<Holder>(ConfigText{"test.yaml", "sweeps: [" + yaml + "]\n", "."});
  return loaded.value.sweeps.at(0).make();
}

std::vector<std::string> names(const std::vector<HeadId>& heads) {
  std::vector<std::string> result;
  for (const HeadId& head : heads) result.push_back(to_string(head));
  return result;
}

std::vector<std::string> names(const HeadSet& set) { return names(set.heads()); }

HeadId encoder_head(int64_t layer, int64_t head) { return {{Kind::encoder, layer}, head}; }

}  // namespace headprune::test
