// Quality against cost: the methods of all sweeps at equal heads, as rows.
#pragma once

#include <string>
#include <vector>

#include "report/numbers/contest.h"
#include "report/tables/method_pairs.h"
#include "report/text/text_table.h"

namespace headprune {

/// At every shared number of heads, the best first: method, metric, how far behind the best (* where q < 0.05 over
/// `pairs`), passes that it took. The random order's mean stands among them.
TextRows contest_rows(const Record& record, const Contest& contest, const std::vector<MethodPair>& pairs);
/// contest.csv: the same for every metric, and masks at their own numbers of heads.
std::string contest_csv(const Record& record);

}  // namespace headprune
