// The curves of a sweep side by side: what the terminal, report.md and report.html show.
#pragma once

#include <string>
#include <vector>

#include "report/numbers/sweeps.h"
#include "report/text/text_table.h"

namespace headprune {

/// "one_shot, global ranking", with the rule and the kind where they are not obvious.
std::string sweep_title(const Sweep& sweep);

/// Fraction, heads left, then one column a method (its interval, * where q < 0.05) and a control (mean [smallest,
/// largest]).
TextRows sweep_rows(const Sweep& sweep, const std::string& metric);

/// What brackets, stars and the control mean, one sentence each, in the words that hold for this sweep.
std::vector<std::string> sweep_notes(const Record& record, const Sweep& sweep, const std::string& metric);

/// The mean height of every curve in one sentence, with its rank among random orders; empty without any area.
std::string areas_sentence(const Record& record, const Sweep& sweep, const std::string& metric);

/// "Masks of from_file", with the seed where each stands by itself; "Models of convert".
std::string mask_title(const MaskList& list);
/// "accuracy of the pruned model", "accuracy of models with all heads".
std::string mask_subject(const MaskList& list, const std::string& metric);
/// Name, heads left (of models with all heads what else makes them smaller), the metric with its interval and *, the
/// change from the unpruned model; and what these mean.
TextRows mask_rows(const MaskList& list, const std::string& metric);
std::vector<std::string> mask_notes(const Record& record, const MaskList& list, const std::string& metric);

}  // namespace headprune
