// Writing the most likely text that a model knows of, by beam search (Wu et al. 2016, section 7).
#pragma once

#include <cstdint>
#include <vector>

#include "model/writer.h"

namespace headprune {

/// Hypotheses, of all sentences together, that are continued at once. It bounds memory: with a vocabulary of 60,000, a
/// table of their log probabilities takes 250 MB. Also the widest beam.
inline constexpr int64_t kMostHypotheses = 512;

struct BeamSearch {
  int64_t start = 0;            // the first token that the decoder reads; never written
  int64_t end = 0;              // the token that ends a text
  int64_t width = 4;            // hypotheses kept of each sentence; 1 is greedy search
  double length_penalty = 0.6;  // alpha of lp(Y) = ((5 + |Y|) / 6)^alpha, by which log P(Y) is divided (Eq. 14)
};

/// The best text of each sentence of `state` (fresh from SequenceWriter::start), without its end token.
///
/// At every step each hypothesis is continued by every token, and the 2 width most likely continuations of a sentence
/// are looked at, best first: one of the first `width` that ends its text is set aside, and the first `width` that do
/// not end go on. A sentence is done once `width` texts are set aside, or when its texts have `limits` tokens, end
/// token included, where those that go on count as they stand. Of those set aside, the one with the largest log P(Y) /
/// lp(Y) is the result; |Y| counts the end token. `gates` as in HeadProbe, [H] each.
///
/// Of continuations with equal sums, that of the hypothesis that was better before comes first, then the token with the
/// lower id; of equal results, the one set aside first. But a hypothesis offers only 2 width tokens, and where equally
/// likely ones do not all fit, which of them it offers is torch's choice. A logit of -inf rules its token out; one that
/// is NaN or +inf, of any hypothesis going on, leaves the sentence with an empty text, whatever was set aside before.
///
/// Sentences know nothing of each other, so that a batch with more than kMostHypotheses is written in parts. Throws
/// Interrupted as check_stop() does.
std::vector<std::vector<int64_t>> write_texts(SequenceWriter& writer, WriterState state, const PerBlock& gates,
                                              const BeamSearch& search, const std::vector<int64_t>& limits);

}  // namespace headprune
