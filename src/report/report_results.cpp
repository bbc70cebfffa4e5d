// The parts of a report that hold numbers about pruning: summary, unpruned model, curves, scores.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "report/curve_statistics.h"
#include "report/report_sections.h"
#include "report/results_json.h"
#include "report/sensitivity_tables.h"
#include "report/sweeps.h"
#include "report/terminal.h"
#include "report/text_table.h"
#include "stats/bootstrap.h"

namespace headprune {
namespace {

std::string share_text(double fraction) { return fmt::format("{:.3g} %", 100 * fraction); }

std::string seeds_text(const Record& record) {
  std::vector<std::string> seeds;
  for (const int64_t seed : recorded_seeds(record)) seeds.push_back(std::to_string(seed));
  if (seeds.empty()) return "no seed yet";
  return (seeds.size() == 1 ? "seed " : "seeds ") + join(seeds, ", ");
}

std::string asked_line(const Record& record) {
  if (!record.facts) return "Asked: not known yet, the run stopped before it had read its data.";
  const RunFacts& facts = *record.facts;
  std::vector<std::string> methods;
  bool control = false;
  for (const MethodFact& method : facts.methods) {
    if (method.type == "random") {
      control = true;
    } else {
      methods.push_back(method.label);
    }
  }
  const std::string ranked =
      methods.empty() ? ""
                      : " when heads go in the order of " + join(methods, ", ") + (control ? ", or at random" : "");
  return fmt::format("Asked: what {} of {} ({}, {}) does{}.", headline_metric(record), facts.task, facts.model,
                     count_text(static_cast<int64_t>(all_heads(facts.blocks).size()), "head"), ranked);
}

/// The best curve of a sweep by its area, against the control.
std::string sweep_outcome(const ReportInput& input, const Sweep& sweep, const std::string& metric) {
  const std::vector<CurveStatistics> all = curve_statistics(input.record, input.run_folder, sweep, metric);
  const std::vector<DropLimit> limits = drop_limits(input.record, sweep, metric);
  const bool higher = higher_is_better(input.record, metric);
  const CurveStatistics* best = nullptr;
  for (size_t i = 0; i < sweep.curves.size(); ++i) {
    if (!all[i].area.value) continue;
    if (best == nullptr || (higher ? *all[i].area.value > *best->area.value : *all[i].area.value < *best->area.value))
      best = &all[i];
  }
  if (best == nullptr || limits.empty() || !best->within[0].value) return "";
  std::string text = fmt::format(" In sweep {}, {} lets {} of the heads go for at most {} of {}", sweep.any().sweep,
                                 best->method, share_text(*best->within[0].value), limits[0].label, metric);
  if (!sweep.controls.empty() && all[sweep.curves.size()].within[0].value)
    text += fmt::format("; the mean random order {}", share_text(*all[sweep.curves.size()].within[0].value));
  return text + ".";
}

std::string outcome_line(const ReportInput& input) {
  const Record& record = input.record;
  const std::string metric = headline_metric(record);
  const std::optional<MetricSummary> summary = base_metric(record, metric);
  if (!summary) return "Came out: nothing yet, the unpruned model has not been evaluated.";
  std::string text = fmt::format("Came out: unpruned {} {}.", metric, estimate_text(summary->estimate));
  const std::vector<Sweep> sweeps = sweeps_of(record);
  for (size_t i = 0; i < std::min<size_t>(sweeps.size(), 2); ++i) text += sweep_outcome(input, sweeps[i], metric);
  return text;
}

std::string certainty_line(const Record& record) {
  const std::string metric = headline_metric(record);
  const std::optional<PointGroup> base = base_group(record);
  const MetricSummary* summary = base ? base->metric(metric) : nullptr;
  std::string text = fmt::format("How sure: {}", seeds_text(record));
  if (summary != nullptr)
    text += fmt::format(", n = {} of the {} split", count_text(summary->estimate.n, "example"), base->first().split);
  text += recorded_seeds(record).size() > 1 ? "; intervals are over seeds (Student's t)."
                                            : "; intervals are over examples and say nothing of another training run.";
  const std::vector<PointGroup> groups = sensitivity_groups(record);
  const SensitivityQ q = sensitivity_q(record);
  for (const SensitivityTable& table : sensitivity_tables(groups)) {
    if (table.name != "leave_one_out") continue;
    const std::string marks = marks_sentence(table, metric, q);
    text += " Heads that matter alone: " + (marks.rfind("* ", 0) == 0 ? marks.substr(2) : marks);
  }
  return text;
}

std::string number_cell(const CurveNumber& number, bool as_share) {
  if (!number.value) return "-";
  const auto print = [&](double value) { return as_share ? share_text(value) : value_text(value); };
  if (!number.interval) return print(*number.value);
  return fmt::format("{} [{}, {}]", print(*number.value), print((*number.interval)[0]), print((*number.interval)[1]));
}

/// What the intervals of a sweep's statistics are taken over.
std::string statistics_note(const std::vector<CurveStatistics>& all) {
  for (const CurveStatistics& one : all) {
    if (one.area.over == "seeds")
      return "[ ] 95 % interval over seeds (Student's t); of a fraction, the smallest and largest seed.";
    if (one.area.over == "examples") return "[ ] 95 % bootstrap interval over the stored samples of one seed.";
  }
  return "No interval: it needs several seeds, or samples (output.samples: true).";
}

void add_statistics(std::vector<DocBlock>& blocks, const ReportInput& input, const Sweep& sweep,
                    const std::string& metric) {
  const std::vector<CurveStatistics> all = curve_statistics(input.record, input.run_folder, sweep, metric);
  const std::vector<DropLimit> limits = drop_limits(input.record, sweep, metric);
  TextRows rows = {{"method", "mean " + metric, "less random"}};
  for (const DropLimit& limit : limits) rows[0].push_back(fmt::format("drop {}", limit.label));
  std::string range;  // of the first curve; one that covers another says so
  for (const CurveStatistics& one : all) {
    if (range.empty()) range = one.range;
    const bool other = !one.range.empty() && one.range != range;
    std::vector<std::string> row = {other ? fmt::format("{} ({})", one.method, one.range) : one.method,
                                    number_cell(one.area, false), number_cell(one.minus_random, false)};
    for (const CurveNumber& within : one.within) row.push_back(number_cell(within, true));
    rows.push_back(std::move(row));
  }
  blocks.push_back(paragraph_block(
      fmt::format("The whole curve: mean {} over the fractions {} (area divided by its range), and the largest "
                  "fraction of heads that goes while {} stays within a drop from the unpruned value. {}",
                  metric, range.empty() ? "removed" : range, metric, statistics_note(all))));
  blocks.push_back(table_block(std::move(rows)));
}

}  // namespace

std::vector<std::string> summary_lines(const ReportInput& input) {
  return {asked_line(input.record), outcome_line(input), certainty_line(input.record)};
}

std::vector<DocBlock> baseline_section(const ReportInput& input) {
  const std::optional<PointGroup> base = base_group(input.record);
  if (!base) return {};
  TextRows rows = {{"metric", "value", "± stderr", "95 % interval", "n", "seeds"}};
  for (const MetricSummary& metric : base->metrics) {
    const std::vector<std::string> cells = estimate_cells(metric.estimate);
    rows.push_back({metric.name, cells[0], cells[1], cells[2], std::to_string(metric.estimate.n),
                    std::to_string(metric.seeds.size())});
  }
  std::vector<DocBlock> blocks = {heading_block("Unpruned model"), table_block(std::move(rows))};
  if (base->metrics.empty()) return blocks;
  const MetricSummary& first = base->metrics.front();
  blocks.push_back(paragraph_block(fmt::format("± is one standard error, {}. n counts examples of the {} split.",
                                               over_text(first.over, first.estimate.n, first.seeds.size(), first.draws),
                                               base->first().split)));
  if (input.record.facts && !input.record.facts->signatures().empty())
    blocks.push_back(list_block(input.record.facts->signatures()));
  // A few bad seeds move a mean a long way; from ten seeds on the middle half says what a usual one does.
  std::vector<std::string> middles;
  for (const MetricSummary& metric : base->metrics) {
    if (const std::optional<Estimate> middle = interquartile_mean(metric.seeds))
      middles.push_back(metric.name + " " + estimate_text(*middle));
  }
  if (!middles.empty())
    blocks.push_back(
        paragraph_block(fmt::format("Interquartile mean over {} seeds, with the percentile interval of a "
                                    "bootstrap over them: {}.",
                                    first.seeds.size(), join(middles, ", "))));
  return blocks;
}

std::vector<DocBlock> curve_section(const ReportInput& input) {
  const std::vector<Sweep> sweeps = sweeps_of(input.record);
  if (sweeps.empty()) return {};
  std::vector<DocBlock> blocks = {heading_block("Curves"), figures_block(curve_figures(input.record))};
  if (std::vector<Figure> steps = step_figures(input.record); !steps.empty())
    blocks.push_back(figures_block(std::move(steps)));
  const std::string metric = headline_metric(input.record);
  for (const Sweep& sweep : sweeps) {
    blocks.push_back(paragraph_block(fmt::format("Sweep {}: {} of the pruned model.", sweep_title(sweep), metric)));
    blocks.push_back(table_block(sweep_rows(sweep, metric), 0));
    blocks.push_back(list_block(sweep_notes(sweep, metric)));
    add_statistics(blocks, input, sweep, metric);
    std::vector<DocBlock> more;
    for (const MetricSummary& other : sweep.any().points.front().metrics) {
      if (other.name == metric) continue;
      more.push_back(paragraph_block(fmt::format("{} of the pruned model", other.name)));
      more.push_back(table_block(sweep_rows(sweep, other.name), 0));
    }
    if (!more.empty())
      blocks.push_back(fold_block(fmt::format("{}: the other metrics", sweep.any().sweep), std::move(more)));
  }
  return blocks;
}

std::vector<DocBlock> score_section(const ReportInput& input) {
  const std::vector<Figure> figures = score_figures(input.record);
  if (figures.empty()) return {};
  std::vector<DocBlock> blocks = {
      heading_block("Scores of the intact model"),
      paragraph_block(
          "Larger means keep. Colours compare heads of one score; scores of different methods have different units."),
      figures_block(figures)};
  // Heads down, methods across; mean over seeds.
  std::vector<std::string> methods;
  for (const MethodFact& fact : input.record.facts->methods) {
    if (fact.type != "random") methods.push_back(fact.label);
  }
  std::map<HeadId, std::map<std::string, std::pair<double, int64_t>>> sums;
  for (const auto& [key, score] : input.record.scores) {
    if (!key.sweep.empty()) continue;
    for (const auto& [id, block] : score.blocks) {
      for (size_t i = 0; i < block.heads.size(); ++i) {
        auto& [sum, count] = sums[{id, block.heads[i]}][key.method];
        sum += block.scores[i];
        ++count;
      }
    }
  }
  TextRows rows = {{"head"}};
  rows[0].insert(rows[0].end(), methods.begin(), methods.end());
  for (const auto& [head, values] : sums) {
    std::vector<std::string> row = {to_string(head)};
    for (const std::string& method : methods) {
      const auto found = values.find(method);
      row.push_back(found == values.end()
                        ? "-"
                        : fmt::format("{:.4g}", found->second.first / static_cast<double>(found->second.second)));
    }
    rows.push_back(std::move(row));
  }
  blocks.push_back(fold_block("Scores as a table", {table_block(std::move(rows))}));
  return blocks;
}

}  // namespace headprune
