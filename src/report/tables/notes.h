// Sentences that say what an interval, a star or a seed means, in the words that hold for the numbers beside them: what
// the terminal and the report share.
#pragma once

#include <string>
#include <vector>

#include "report/numbers/groups.h"
#include "stats/power.h"

namespace headprune {

/// "over 1000 examples", "over 3 seeds and 1000 examples (crossed random effects)": what a summary's interval covers.
std::string over_text(const MetricSummary& summary);
/// What the standard errors of a table of metrics are over: "± is one standard error, over 1000 examples."; by metric
/// where they are not all over the same. Not empty.
std::string error_sentence(const std::vector<MetricSummary>& metrics);
/// What a star means among these points: "* 3 of 24: q < 0.05 against the unpruned model (exact McNemar test,
/// Benjamini-Hochberg over the table)"; or that there is none, or none possible. Empty without points.
std::vector<std::string> star_notes(const std::vector<const PointGroup*>& points, const std::string& metric,
                                    const std::string& family);
/// What the tests of a family cannot star at all, where `n` examples or the draws are too few: half a sentence.
std::string impossible_note(const Detectable& found, const std::string& test, int64_t n);
/// The smallest change that the tests of each family could have starred, from the family where it is smallest to where
/// it is largest; or that none could; empty where that is not known of one that has tests.
std::string power_note(const Record& record, const std::vector<std::vector<const PointGroup*>>& families,
                       const std::string& metric);
/// "exact McNemar test"
std::string test_name(const std::string& test);
/// "seed 1 0.801, seed 2 0.812" of each seed's value; empty for one seed.
std::string seeds_values_text(const Record& record, const MetricSummary& summary);
/// What another training run, or another seed of this run, may change: a sentence.
std::string seeds_sentence(const Record& record, const MetricSummary& summary);

}  // namespace headprune
