#include "run/time_left.h"

#include <algorithm>
#include <cmath>

namespace headprune {
namespace {

constexpr double kRecent = 30;     // seconds after which a measurement weighs 1 / e
constexpr double kSurprise = 5;    // times the expected duration
constexpr double kLeastPause = 1;  // second

}  // namespace

void TimeLeft::expect(Work kind, double pieces, double tokens) {
  Kind& one = of(kind);
  const double all = one.left + pieces;
  if (all > 0) one.tokens = (one.left * one.tokens + pieces * tokens) / all;
  one.left = all;
}

void TimeLeft::skip(Work kind, double pieces) { of(kind).left = std::max(0.0, of(kind).left - pieces); }

void TimeLeft::done(Work kind, double pieces, double seconds) {
  skip(kind, pieces);
  Kind& one = of(kind);
  if (one.recent_pieces > 0) seconds = std::min(seconds, kLeastPause + kSurprise * pieces * one.seconds_per_piece());
  const double weight = std::exp(-seconds / kRecent);
  one.recent_pieces = weight * one.recent_pieces + pieces;
  one.recent_seconds = weight * one.recent_seconds + seconds;
}

std::optional<double> TimeLeft::seconds() const {
  double tokens = 0, spent = 0;
  for (const Kind& kind : kinds_) {
    if (kind.recent_pieces <= 0) continue;
    tokens += kind.recent_pieces * kind.tokens;
    spent += kind.recent_seconds;
  }
  if (spent <= 0) return std::nullopt;
  double left = 0;
  for (const Kind& kind : kinds_) {
    if (kind.recent_pieces > 0)
      left += kind.left * kind.seconds_per_piece();
    else if (tokens > 0)
      left += kind.left * kind.tokens * spent / tokens;
  }
  return left;
}

}  // namespace headprune
