// Corpus BLEU with one reference (Papineni et al. 2002), digit for digit sacreBLEU's with its defaults (Post 2018):
// tokenizer 13a, orders 1 to 4, case kept, orders without a match smoothed exponentially (method 3 of Chen and Cherry
// 2014). tests/golden/make_text_metrics.py compares with sacreBLEU itself.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headprune {

/// sacreBLEU's signature of this metric, but for the version of sacreBLEU, which this is not.
inline constexpr std::string_view kBleuSignature = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp";

/// In sacreBLEU's order: length of hypothesis and of reference in tokens, then for orders 1 to 4 the n-grams of the
/// hypothesis that match, then for orders 1 to 4 all that it has.
using BleuStatistics = std::array<double, 10>;

/// Tokens of a sentence that is not tokenized yet, as mteval-v13a makes them. Valid UTF-8.
std::vector<std::string> tokenize_13a(std::string_view text);
BleuStatistics bleu_statistics(std::string_view hypothesis, std::string_view reference);
/// BLEU, 0 to 100, of the sums of BleuStatistics over a corpus.
double bleu_of(std::span<const double> sums);

}  // namespace headprune
