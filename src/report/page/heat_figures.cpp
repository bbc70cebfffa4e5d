// Figures that are heat maps: leave-one-out, scores, agreement.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/text.h"
#include "report/draw/head_map.h"
#include "report/draw/heat_map.h"
#include "report/numbers/agreement_rows.h"
#include "report/numbers/groups.h"
#include "report/numbers/repetitions.h"
#include "report/page/figures.h"
#include "report/text/text_table.h"

namespace headprune {
namespace {

/// One seed's heads, or those that all seeds share.
HeatMap leave_one_out_map(const Record& record, const std::vector<const PointGroup*>& groups,
                          const std::string& metric) {
  HeatMap map = head_map(record);
  bool marked = false;
  for (const PointGroup* group : groups) {
    const PointSpec& spec = group->first().spec;
    const MetricSummary* summary = group->metric(metric);
    if (summary == nullptr || !summary->difference || spec.shown() != Shown::heads || !spec.layer) continue;
    const Difference& difference = *summary->difference;
    for (const HeadId& head : group->first().removed.heads()) {  // a group's change stands at each of its heads
      HeatCell* cell = cell_of(map, head);
      if (cell == nullptr) continue;
      cell->value = difference.delta;
      cell->text = change_text(difference.delta);
      cell->title = fmt::format("{} removed alone: {} changes by {}{}", sensitivity_unit(spec), metric,
                                change_text(difference.delta), change_interval_text(difference));
      if (summary->q) cell->title += fmt::format(", q {}", p_text(*summary->q));
      cell->marked = summary->significant();
      marked = marked || cell->marked;
    }
  }
  map.diverging = true;
  map.low_is_good = !higher_is_better(record, metric);
  const bool higher = higher_is_better(record, metric);
  const bool by_group = !groups.empty() && groups.front()->first().spec.group;
  map.title = by_group ? "Each group of heads removed alone" : "Each head removed alone";
  const std::string worse = by_group ? "worse without the group" : "worse without the head";
  map.low_label = higher ? worse : "better without it";
  map.high_label = higher ? "better without it" : worse;
  map.mark_label = marked ? "q < 0.05 (Benjamini-Hochberg)" : "";
  return map;
}

struct MethodScore {
  std::map<HeadId, std::vector<double>> values;  // one per seed
  std::set<int64_t> n;                           // examples that count, by block
  std::string direction;
  int64_t ties = 0;
  std::set<int64_t> seeds;
};

/// Of one seed, or of all.
std::map<std::string, MethodScore> scores_by_method(const Record& record, std::optional<int64_t> of_seed) {
  std::map<std::string, MethodScore> methods;
  for (const auto& [key, score] : record.scores) {
    if (!key.sweep.empty() || is_random(record, key.method) || (of_seed && key.seed != *of_seed)) continue;
    if (!seeds_differ(record) && key.seed != record.scores.begin()->first.seed) continue;  // the same scores again
    MethodScore& method = methods[key.method];
    method.seeds.insert(key.seed);
    if (score.done) {
      method.direction = score.done->direction;
      method.ties = std::max(method.ties, score.done->ties);
    }
    for (const auto& [id, block] : score.blocks) {
      if (!block.heads.empty()) method.n.insert(block.n);
      for (size_t i = 0; i < block.heads.size(); ++i) method.values[{id, block.heads[i]}].push_back(block.scores[i]);
    }
  }
  return methods;
}

HeatMap score_map(const Record& record, const std::string& name, const MethodScore& method) {
  HeatMap map = head_map(record);
  for (const auto& [head, values] : method.values) {
    HeatCell* cell = cell_of(map, head);
    if (cell == nullptr) continue;
    double sum = 0;
    for (const double value : values) sum += value;
    cell->value = sum / static_cast<double>(values.size());
    cell->text = short_number(*cell->value);
    cell->title = std::isfinite(*cell->value) ? fmt::format("{}: {} {:.4g}", to_string(head), name, *cell->value)
                                              : fmt::format("{}: {} is not finite", to_string(head), name);
  }
  map.title = fmt::format("Score {}", name);
  // Not every score is a mean over examples, and not every example has something to count in every block.
  const int64_t least = method.n.empty() ? 0 : *method.n.begin(), most = method.n.empty() ? 0 : *method.n.rbegin();
  map.subtitle = least == most ? fmt::format("from n = {}", count_text(most, "example"))
                               : fmt::format("from n = {} to {}, by block", least, count_text(most, "example"));
  if (method.seeds.size() > 1) map.subtitle += fmt::format(", mean over {} seeds", method.seeds.size());
  if (method.ties > 0) map.subtitle += fmt::format("; {} tied", count_text(method.ties, "head"));
  map.low_label = "goes first";
  map.high_label = "stays longest";
  return map;
}

}  // namespace

std::vector<Figure> sensitivity_figures(const Record& record) {
  std::vector<Figure> figures;
  std::map<std::optional<int64_t>, std::vector<const PointGroup*>> by_seed;
  const std::vector<PointGroup> groups = sensitivity_groups(record);
  for (const PointGroup& group : groups)
    if (group.first().spec.shown() == Shown::heads) by_seed[group.seed].push_back(&group);
  if (by_seed.empty() || !record.facts) return figures;
  for (const MetricFact& metric : record.facts->metrics) {
    Figure figure{fmt::format("sensitivity-{}.svg", metric.name),
                  {},
                  fmt::format("change of {} when each head is removed alone, layers by heads", metric.name),
                  ""};
    for (const auto& [seed, of_seed] : by_seed) {
      HeatMap map = leave_one_out_map(record, of_seed, metric.name);
      if (seed) map.title += fmt::format(", seed {}", *seed);
      map.subtitle = fmt::format("change of {}", metric.name);
      if (const MetricSummary* summary = of_seed.front()->metric(metric.name))
        map.subtitle += fmt::format(", {} split, n = {}", of_seed.front()->first().split,
                                    count_text(summary->estimate.n, "example"));
      figure.panels.push_back(draw_heat_map(map));
    }
    figures.push_back(std::move(figure));
  }
  return figures;
}

std::vector<Figure> score_figures(const Record& record) {
  std::vector<Figure> figures;
  if (!record.facts) return figures;
  for (const MethodFact& fact : record.facts->methods) {
    Figure figure{
        fmt::format("scores-{}.svg", fact.label), {}, fmt::format("scores of {}, layers by heads", fact.label), ""};
    for (const std::optional<int64_t> seed : seeds_of_heads(record)) {
      const std::map<std::string, MethodScore> methods = scores_by_method(record, seed);
      const auto found = methods.find(fact.label);
      if (found == methods.end()) continue;
      HeatMap map = score_map(record, fact.label, found->second);
      if (seed) map.title += fmt::format(", seed {}", *seed);
      figure.panels.push_back(draw_heat_map(map));
      if (!found->second.direction.empty()) figure.caption = "Declared direction: " + found->second.direction + ".";
      if (!fact.note.empty()) figure.caption += (figure.caption.empty() ? "" : " ") + fact.note + ".";
    }
    if (!figure.panels.empty()) figures.push_back(std::move(figure));
  }
  return figures;
}

std::vector<Figure> agreement_figures(const std::vector<AgreementRow>& rows) {
  std::vector<std::string> methods;
  const auto position = [&](const std::string& name) {
    auto at = std::find(methods.begin(), methods.end(), name);
    if (at == methods.end()) at = methods.insert(methods.end(), name);
    return static_cast<size_t>(at - methods.begin());
  };
  const std::vector<AgreementGroup> groups = agreement_groups(rows);
  std::map<std::pair<size_t, size_t>, const AgreementGroup*> pairs;
  for (const AgreementGroup& group : groups) {
    const AgreementRow& row = group.first;
    if (row.comparison != "methods" || row.kind != "all" || row.statistic != "spearman" || group.values.empty())
      continue;
    const size_t a = position(row.method_a), b = position(row.method_b);
    pairs[{a, b}] = pairs[{b, a}] = &group;
  }
  if (pairs.empty()) return {};
  HeatMap map;
  map.title = "Agreement between methods";
  map.subtitle = fmt::format("Spearman's rho over n = {}", count_text(pairs.begin()->second->first.n, "head"));
  for (size_t i = 0; i < methods.size(); ++i) {
    map.rows.push_back(fmt::format("{} {}", methods[i], i + 1));
    map.columns.push_back(std::to_string(i + 1));
  }
  map.cells.assign(methods.size(), std::vector<HeatCell>(methods.size()));
  for (const auto& [place, group] : pairs) {
    HeatCell& cell = map.cells[place.first][place.second];
    cell.value = group->mean;
    cell.text = fmt::format("{:.2f}", group->mean);
    cell.title = fmt::format("{} and {}: {:.3f}", methods[place.first], methods[place.second], group->mean);
    if (group->values.size() == 1 && group->first.p)
      cell.title += fmt::format(", permutation p {}", p_text(*group->first.p));
    if (group->values.size() > 1) cell.title += fmt::format(", mean of {} seeds", group->values.size());
  }
  map.diverging = true;
  map.limit = 1;
  map.low_label = "opposite orders";
  map.high_label = "the same order";
  return {{"agreement.svg", {draw_heat_map(map)}, "Spearman's rank correlation between score methods", ""}};
}

}  // namespace headprune
