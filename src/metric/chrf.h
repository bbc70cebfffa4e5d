// Corpus chrF with one reference (Popovic 2015), digit for digit sacreBLEU's with its defaults (Post 2018): F2 of the
// mean precision and mean recall of character n-grams of orders 1 to 6, white space left out, no word n-grams (nw:0),
// orders that either side lacks left out of the means. tests/golden/make_text_metrics.py compares with sacreBLEU
// itself.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace headprune {

/// sacreBLEU's signature of this metric, but for the version of sacreBLEU, which this is not.
inline constexpr std::string_view kChrfSignature = "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no";

/// In sacreBLEU's order: for each of orders 1 to 6 the n-grams of the hypothesis, those of the reference, those that
/// match. Those of a hypothesis count only where the reference has some of that order.
using ChrfStatistics = std::array<double, 18>;

/// Characters are code points. Valid UTF-8.
ChrfStatistics chrf_statistics(std::string_view hypothesis, std::string_view reference);
/// chrF, 0 to 100, of the sums of ChrfStatistics over a corpus.
double chrf_of(std::span<const double> sums);

}  // namespace headprune
