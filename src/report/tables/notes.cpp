#include "report/tables/notes.h"

#include <fmt/format.h>

#include <set>

#include "core/text.h"
#include "report/numbers/repetitions.h"
#include "report/text/text_table.h"
#include "stats/power.h"

namespace headprune {

std::string over_text(const MetricSummary& summary) {
  const std::string examples = count_text(summary.estimate.n, "example");
  if (summary.over == "examples") return "over " + examples;
  const int64_t count = summary.over == "seeds" ? std::ssize(summary.seeds)
                                                : (summary.parts ? summary.parts->repetitions : summary.draws);
  const std::string repeated = count_text(count, summary.over == "seeds" ? "seed" : "random order");
  if (summary.parts && summary.parts->n > 0)
    return fmt::format("over {} and {} (crossed random effects)", repeated, examples);
  return fmt::format("over {} alone (Student's t): values by example were not kept", repeated);
}

std::string error_sentence(const std::vector<MetricSummary>& metrics) {
  std::set<std::string> over;
  std::vector<std::string> each;
  for (const MetricSummary& metric : metrics) {
    if (!metric.estimate.stderr_) continue;
    over.insert(over_text(metric));
    each.push_back(fmt::format("of {} {}", metric.name, over_text(metric)));
  }
  if (over.empty()) return "± is one standard error; there is none.";
  return fmt::format("± is one standard error, {}.", over.size() == 1 ? *over.begin() : join(each, ", "));
}

std::string test_name(const std::string& test) {
  if (test == "mcnemar") return "exact McNemar test";
  if (test == "paired_bootstrap") return "paired bootstrap";
  if (test == "crossed_t") return "t test over seeds (or orders) and examples";
  if (test == "paired_t") return "paired t test over examples";
  if (test == "sign_flip") return "sign-flip test over seeds";
  if (test == "welch") return "Welch's t test over seeds";
  return test;
}

std::vector<std::string> star_notes(const std::vector<const PointGroup*>& points, const std::string& metric,
                                    const std::string& family) {
  std::set<std::string> tests;
  int64_t starred = 0, tested = 0;
  for (const PointGroup* point : points) {
    const MetricSummary* summary = point->metric(metric);
    if (summary == nullptr || !summary->q) continue;
    ++tested;
    starred += summary->significant() ? 1 : 0;
    const bool alone = summary->parts && summary->parts->n == 0;  // values by example were not kept
    tests.insert(alone ? "t test over seeds (or orders) alone" : test_name(summary->difference->test));
  }
  if (points.empty()) return {};
  if (tested == 0) return {"No test was possible, so nothing is starred."};
  const std::string how =
      fmt::format("({}, Benjamini-Hochberg over {})", join({tests.begin(), tests.end()}, ", "), family);
  if (starred == 0) return {fmt::format("Nothing is starred: no q < 0.05 among {} {}.", tested, how)};
  return {fmt::format("* {} of {}: q < 0.05 against the unpruned model {}.", starred, tested, how)};
}

std::string impossible_note(const Detectable& found, const std::string& test, int64_t n) {
  const bool drawn = test == "paired_bootstrap";
  return fmt::format(
      "no change that stood out alone could have a star: its p would have to be below {:.2g}, and the smallest that {} "
      "can give is {:.2g}{}",
      found.needed_p, drawn ? "the bootstrap's draws" : fmt::format("the exact test of {}", count_text(n, "example")),
      found.smallest_p, drawn ? "; raise report.bootstrap_iters" : "");
}

std::string power_note(const Record& record, const std::vector<std::vector<const PointGroup*>>& families,
                       const std::string& metric) {
  const int64_t draws = record.facts ? record.facts->bootstrap_iters : 0;
  std::set<int64_t> tests, examples;
  std::set<double> needed;
  bool exact = true;
  for (const std::vector<const PointGroup*>& family : families) {
    std::vector<Difference> tested;
    std::set<std::string> masks;
    for (const PointGroup* point : family) {
      const MetricSummary* summary = point->metric(metric);
      if (summary == nullptr || !summary->q) continue;
      if (summary->over != "examples") return "";  // how far seeds or orders differ is not known before they are drawn
      examples.insert(summary->estimate.n);
      const std::string& mask = point->first().evaluated();
      // Equal masks are one test.
      if (mask.empty() || masks.insert(mask).second) tested.push_back(*summary->difference);
    }
    if (tested.empty()) continue;
    const std::optional<Detectable> found = detectable(tested, *examples.begin(), kAlpha, draws);
    if (!found || examples.size() > 1) return "";
    if (!found->possible())
      return fmt::format("With {} and {} {}.", count_text(*examples.begin(), "example"),
                         count_text(std::ssize(tested), "test"),
                         impossible_note(*found, tested.front().test, *examples.begin()));
    if (!found->change) return "";
    tests.insert(std::ssize(tested));
    needed.insert(*found->change);
    exact = exact && tested.front().test == "mcnemar";
  }
  if (needed.empty()) return "";
  const std::string low = value_text(*needed.begin()), high = value_text(*needed.rbegin());
  const std::string counted = tests.size() == 1
                                  ? count_text(*tests.begin(), "test")
                                  : fmt::format("{} to {} tests a curve", *tests.begin(), *tests.rbegin());
  return fmt::format("With {} and {} a change that stood out alone needed {}{} for a star{}.",
                     count_text(*examples.begin(), "example"), counted, exact ? "" : "about ",
                     low == high ? low : low + " to " + high, low == high ? "" : ", by curve");
}

std::string seeds_values_text(const Record& record, const MetricSummary& summary) {
  const std::vector<int64_t> seeds = recorded_seeds(record);
  if (summary.seeds.size() < 2 || summary.seeds.size() != seeds.size()) return "";
  std::vector<std::string> parts;
  for (size_t i = 0; i < seeds.size(); ++i)
    parts.push_back(fmt::format("seed {} {}", seeds[i], value_text(summary.seeds[i])));
  return join(parts, ", ");
}

std::string seeds_sentence(const Record& record, const MetricSummary& summary) {
  const size_t seeds = seeds_differ(record) ? summary.seeds.size() : recorded_seeds(record).size();
  if (!seeds_differ(record))
    return seeds > 1 ? fmt::format(
                           "The {} seeds have one model, which was loaded and not trained: they change nothing "
                           "but random orders, and no interval says what another training would change.",
                           seeds)
                     : "The model was loaded and not trained: intervals say how much the examples matter.";
  if (seeds == 1)
    return "One seed: intervals say how much the examples matter, not how much another training run would.";
  const std::string values = seeds_values_text(record, summary);
  std::string text = values.empty() ? fmt::format("{} of {} seeds.", seeds, recorded_seeds(record).size())
                                    : fmt::format("{} by seed: {}.", summary.name, values);
  if (!heads_shared_by_seeds(record))
    text +=
        " Each seed is another model, whose heads have nothing to do with each other's: tables of single heads stand "
        "by seed.";
  return text;
}

}  // namespace headprune
