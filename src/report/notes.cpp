#include "report/notes.h"

#include <fmt/format.h>

#include <set>

#include "core/text.h"
#include "report/repetitions.h"
#include "report/text_table.h"
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

std::string power_note(const std::vector<const PointGroup*>& family, const std::string& metric) {
  std::vector<Difference> tested;
  int64_t n = 0;
  for (const PointGroup* point : family) {
    const MetricSummary* summary = point->metric(metric);
    if (summary == nullptr || !summary->q) continue;
    if (summary->over != "examples") return "";  // how far seeds or orders differ is not known before they are drawn
    tested.push_back(*summary->difference);
    n = summary->estimate.n;
  }
  const std::optional<double> smallest = smallest_change(tested, n, kAlpha);
  if (!smallest) return "";
  return fmt::format("With {} and {} a change that stood out alone needed {}{} for a star.", count_text(n, "example"),
                     count_text(std::ssize(tested), "test"), tested.front().test == "mcnemar" ? "" : "about ",
                     value_text(*smallest));
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
                           "but random orders, and intervals are over examples.",
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
