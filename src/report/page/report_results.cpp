// The parts of a report that hold numbers about pruning: summary, unpruned model, curves, scores.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/text.h"
#include "report/numbers/areas.h"
#include "report/numbers/curve_statistics.h"
#include "report/numbers/sweeps.h"
#include "report/page/report_sections.h"
#include "report/tables/contest_table.h"
#include "report/tables/method_pairs.h"
#include "report/tables/notes.h"
#include "report/tables/sensitivity_tables.h"
#include "report/tables/sweep_rows.h"
#include "report/text/text_table.h"
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
  // Of what was scored, that by which heads went; before the first point nothing else is known.
  std::set<std::string> asked;
  bool from_file = false;
  const auto look_at = [&](const PointSpec& spec) {
    if (spec.rule == "none") return;
    if (!spec.method.empty()) asked.insert(spec.method);
    from_file = from_file || (!spec.sweep.empty() && spec.method.empty());
  };
  for (const auto& [id, spec] : record.started_points) look_at(spec);
  for (const auto& [id, point] : record.points) look_at(point.spec);
  std::vector<std::string> methods;
  bool control = false;
  for (const MethodFact& method : facts.methods) {
    if (!(asked.empty() && !from_file) && !asked.contains(method.label)) continue;
    if (method.type == "random") {
      control = true;
    } else {
      methods.push_back(method.label);
    }
  }
  if (from_file) methods.emplace_back("a file");
  const std::string ranked =
      methods.empty() ? ""
                      : " when heads go in the order of " + join(methods, ", ") + (control ? ", or at random" : "");
  return fmt::format("Asked: what {} of {} ({}, {}) does{}.", headline_metric(record), facts.task, facts.model,
                     count_text(static_cast<int64_t>(all_heads(facts.blocks).size()), "head"), ranked);
}

/// What pruning may do to a metric.
const char* worse_word(bool higher_is_better) { return higher_is_better ? "drop" : "rise"; }

/// "25 % (95 % interval of the drop there: [-0.001, 0.008])"
std::string within_text(const WithinLimit& within, const char* worse) {
  if (!within.drop)
    return within.then_unknown ? "not known, the smallest tested has no interval" : "none of those tested";
  return fmt::format("{} (95 % interval of the {} there: [{}, {}]{})", share_text(within.fraction), worse,
                     value_text((*within.drop)[0]), value_text((*within.drop)[1]),
                     within.then_unknown ? "; the next has none" : "");
}

/// The same in a table.
std::string within_cell(const WithinLimit& within) {
  if (!within.drop) return within.then_unknown ? "not known" : "none";
  return share_text(within.fraction) + (within.then_unknown ? ", then not known" : "");
}

/// Which unpruned model a sweep is compared with, where that is not the one that the run ends with.
std::string step_text(const Sweep& sweep) {
  return sweep.any().at_step
             ? fmt::format(" (of the model after {})", count_text(*sweep.any().at_step, "training step"))
             : "";
}

/// The best curve of a sweep by its area, against the control.
std::string sweep_outcome(const ReportInput& input, const Sweep& sweep, const std::string& metric) {
  const std::vector<CurveStatistics> all = curve_statistics(input.record, sweep, metric);
  const std::vector<DropLimit> limits = drop_limits(input.record, sweep, metric);
  const bool higher = higher_is_better(input.record, metric);
  const CurveStatistics* best = nullptr;
  double widest = 0;  // mean heights over other fractions are not to be compared
  for (size_t i = 0; i < sweep.curves.size(); ++i)
    if (all[i].area) widest = std::max(widest, all[i].width);
  int64_t candidates = 0;
  for (size_t i = 0; i < sweep.curves.size(); ++i) {
    if (!all[i].area || all[i].width < widest) continue;
    ++candidates;
    if (best == nullptr || (higher ? all[i].area->value > best->area->value : all[i].area->value < best->area->value))
      best = &all[i];
  }
  if (best == nullptr || limits.empty() || best->within.empty()) return "";
  const char* worse = worse_word(higher);
  std::string text = fmt::format(
      " Sweep {}: largest fraction of heads up to which, there and at every smaller one, the interval of the {} in "
      "{}{} "
      "stays within {}{}: {} {}",
      sweep.any().sweep, worse, metric, step_text(sweep), limits[0].label,
      limits[0].label.ends_with('%') ? " of the unpruned value" : "", best->method,
      within_text(best->within[0], worse));
  if (!sweep.controls.empty() && all[sweep.curves.size()].one_order)
    text += "; the one random order says nothing of others";
  else if (!sweep.controls.empty() && !all[sweep.curves.size()].within.empty())
    text += fmt::format("; the mean random order {}", within_text(all[sweep.curves.size()].within[0], worse));
  if (sweep.curves.size() > 1)
    text += fmt::format(". {} was picked as the best of {}{} by this very split: on other data expect less of it",
                        best->method, count_text(candidates, "method"),
                        candidates < std::ssize(sweep.curves)
                            ? fmt::format(" (of {}, the others lack points)", sweep.curves.size())
                            : "");
  if (best->random) text += ". " + rank_text(*best->random, sweep.curves.size());
  return text + ".";
}

std::string outcome_line(const ReportInput& input) {
  const Record& record = input.record;
  const std::string metric = headline_metric(record);
  const std::optional<MetricSummary> summary = base_metric(record, metric);
  if (!summary) return "Came out: nothing yet, the unpruned model has not been evaluated.";
  std::string text = fmt::format("Came out: unpruned {} {}.", metric, estimate_text(summary->estimate));
  const std::vector<Sweep> sweeps = sweeps_of(record);
  const size_t shown = std::min<size_t>(sweeps.size(), 2);
  for (size_t i = 0; i < shown; ++i) text += sweep_outcome(input, sweeps[i], metric);
  if (sweeps.size() > shown)
    text += fmt::format(" {} more: their tables stand below.", count_text(std::ssize(sweeps) - 2, "sweep"));
  return text;
}

std::string certainty_line(const Record& record) {
  const std::string metric = headline_metric(record);
  const std::optional<PointGroup> base = base_group(record);
  const MetricSummary* summary = base ? base->metric(metric) : nullptr;
  std::string text = fmt::format("How sure: {}", seeds_text(record));
  if (summary != nullptr)
    text += fmt::format(", n = {} of the {} split", count_text(summary->estimate.n, "example"), base->first().split);
  text += ".";
  if (summary != nullptr) text += " " + seeds_sentence(record, *summary);
  const std::vector<PointGroup> groups = sensitivity_groups(record);
  for (const SensitivityTable& table : sensitivity_tables(groups)) {
    if (table.shown != Shown::heads) continue;
    const std::string notes = join(table_notes(record, table, metric), " ");
    text += fmt::format(" Heads that matter alone{}: {}", table.seed ? fmt::format(", seed {}", *table.seed) : "",
                        notes.rfind("* ", 0) == 0 ? notes.substr(2) : notes);
  }
  return text;
}

std::string random_cell(const std::optional<AgainstRandom>& random) {
  if (!random) return "-";
  return change_text(random->difference.delta) + change_interval_text(random->difference);
}

void add_statistics(std::vector<DocBlock>& blocks, const ReportInput& input, const Sweep& sweep,
                    const std::string& metric) {
  const std::vector<CurveStatistics> all = curve_statistics(input.record, sweep, metric);
  const std::vector<DropLimit> limits = drop_limits(input.record, sweep, metric);
  const char* worse = worse_word(higher_is_better(input.record, metric));
  TextRows rows = {{"method", "mean " + metric, "less random", "random orders as good", "p"}};
  for (const DropLimit& limit : limits) rows[0].push_back(fmt::format("{} {}", worse, limit.label));
  std::string range;  // of the first curve; one that covers another says so
  int64_t orders = kEnoughOrders;
  bool one_order = false, unknown = false;
  for (const CurveStatistics& one : all) {
    if (range.empty()) range = one.range;
    const bool other = !one.range.empty() && one.range != range;
    std::vector<std::string> row = {other ? fmt::format("{} ({})", one.method, one.range) : one.method,
                                    one.area ? estimate_text(*one.area) : "-", random_cell(one.random),
                                    one.random ? fmt::format("{} of {}", one.random->as_good, one.random->orders) : "-",
                                    one.random ? fmt::format("{:.3g}", one.random->p) : "-"};
    if (one.random) orders = std::min(orders, one.random->orders);
    one_order = one_order || one.one_order;
    for (const WithinLimit& within : one.within) unknown = unknown || within.then_unknown;
    for (const WithinLimit& within : one.within) row.push_back(within_cell(within));
    row.resize(rows[0].size(), "-");
    rows.push_back(std::move(row));
  }
  std::string text = fmt::format(
      "The whole curve: mean {} over the fractions {} (area divided by its range); less that of the mean random order, "
      "examples and orders (or seeds) both taken as samples; how many random orders do at least as well, and "
      "p = (that + 1) / (orders + 1); and the largest fraction of heads up to which, there and at every smaller one, "
      "the "
      "95 % interval of the {} from the unpruned {}{} stays within a limit.",
      metric, range.empty() ? "removed" : range, worse, metric, step_text(sweep));
  if (orders < kEnoughOrders)
    text += fmt::format(" With {} p cannot fall below {:.3g}; p < 0.05 takes {} orders.",
                        count_text(orders, "random order"), 1.0 / static_cast<double>(orders + 1), kEnoughOrders);
  if (one_order) text += " One random order says nothing of others: what is made of it alone has no interval.";
  if (unknown)
    text += fmt::format(
        " Not known: the {} there has no interval, for example because it is the same on all of these examples, which "
        "says little of others.",
        worse);
  blocks.push_back(paragraph_block(std::move(text)));
  blocks.push_back(table_block(std::move(rows)));
}

/// Heads down, methods across: scores of one seed, or means over seeds.
TextRows score_rows(const Record& record, std::optional<int64_t> seed) {
  std::vector<std::string> methods;
  for (const MethodFact& fact : record.facts->methods) {
    if (fact.type != "random") methods.push_back(fact.label);
  }
  std::map<HeadId, std::map<std::string, std::pair<double, int64_t>>> sums;
  for (const auto& [key, score] : record.scores) {
    if (!key.sweep.empty() || (seed && key.seed != *seed)) continue;
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
  return rows;
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
  blocks.push_back(
      paragraph_block(fmt::format("{} n counts examples of the {} split. {}", error_sentence(base->metrics),
                                  base->first().split, seeds_sentence(input.record, first))));
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
    blocks.push_back(list_block(sweep_notes(input.record, sweep, metric)));
    add_statistics(blocks, input, sweep, metric);
    if (const std::vector<MethodPair> pairs = method_pairs(input.record, methods_of(sweep), metric); !pairs.empty())
      blocks.push_back(fold_block(
          fmt::format("{}: method against method at equal heads", sweep.any().sweep),
          {paragraph_block(fmt::format("{} by the first method less that by the second, on the same examples, by the "
                                       "fraction of heads removed. {}",
                                       metric, method_pair_note(input.record, pairs))),
           table_block(method_pair_rows(pairs))}));
    std::vector<DocBlock> more;
    for (const MetricSummary& other : sweep.any().points.front().metrics) {
      if (other.name == metric) continue;
      more.push_back(paragraph_block(fmt::format("{} of the pruned model", other.name)));
      more.push_back(table_block(sweep_rows(sweep, other.name), 0));
      more.push_back(list_block(sweep_notes(input.record, sweep, other.name)));
    }
    if (!more.empty())
      blocks.push_back(fold_block(fmt::format("{}: the other metrics", sweep.any().sweep), std::move(more)));
  }
  return blocks;
}

/// Methods of different sweeps at equal heads, and their costs.
std::vector<DocBlock> contest_section(const ReportInput& input) {
  const std::vector<Contest> all = contests(input.record);
  if (all.empty()) return {};
  const std::string metric = headline_metric(input.record);
  std::vector<DocBlock> blocks = {heading_block("Quality against cost"), figures_block(contest_figures(input.record))};
  for (const Contest& contest : all) {
    if (contest.removed.empty()) continue;
    const std::vector<NamedCurve> curves = contest.named();
    const std::vector<MethodPair> pairs = method_pairs(input.record, curves, metric);
    blocks.push_back(paragraph_block(fmt::format(
        "{} at equal heads ({}), the best first, and the passes over a batch that led there, mean over seeds: scoring, "
        "searching and training, whose batches may be of another size. Which is best was seen on this very split: on "
        "other data expect less of it. {}",
        metric, contest.kind, pairs.empty() ? "" : method_pair_note(input.record, pairs))));
    blocks.push_back(table_block(contest_rows(input.record, contest, pairs), 2));
    if (!pairs.empty())
      blocks.push_back(fold_block(fmt::format("All pairs of methods, {} heads", contest.kind),
                                  {table_block(method_pair_rows(pairs))}));
  }
  return blocks;
}

std::vector<DocBlock> mask_section(const ReportInput& input) {
  std::vector<DocBlock> blocks;
  const std::string metric = headline_metric(input.record);
  for (const MaskList& list : mask_lists(input.record)) {
    blocks.push_back(heading_block(mask_title(list)));
    blocks.push_back(paragraph_block(mask_subject(list, metric) + '.'));
    blocks.push_back(table_block(mask_rows(list, metric)));
    blocks.push_back(list_block(mask_notes(input.record, list, metric)));
  }
  if (std::vector<Figure> costs = tradeoff_figures(input.record); !costs.empty())
    blocks.push_back(figures_block(std::move(costs)));
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
  for (const std::optional<int64_t> seed : seeds_of_heads(input.record)) {
    const std::string title = "Scores as a table" + (seed ? fmt::format(", seed {}", *seed) : "");
    std::vector<DocBlock> table = {table_block(score_rows(input.record, seed))};
    std::set<int64_t> scored;
    for (const auto& [key, score] : input.record.scores)
      if (key.sweep.empty()) scored.insert(key.seed);
    const size_t seeds = scored.size();
    if (!seed && seeds > 1 && seeds_differ(input.record))
      table.insert(table.begin(), paragraph_block(fmt::format("Means over {} seeds.", seeds)));
    blocks.push_back(fold_block(title, std::move(table)));
  }
  return blocks;
}

}  // namespace headprune
