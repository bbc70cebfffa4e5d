// How long the rest of a run will take: what is left of each kind of work, at that kind's recent speed. A kind that has
// not begun is taken to be as fast as the others by the tokens that it passes through the model.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

namespace headprune {

enum class Work { train_step, score_batch, score_mask, analysed_batch, select_mask, point, timed_batch };
inline constexpr size_t kWorks = 7;

class TimeLeft {
 public:
  /// More to do: `pieces`, each of about `tokens` through the model, those of a backward pass counted twice.
  void expect(Work kind, double pieces, double tokens);
  /// It need not be done after all.
  void skip(Work kind, double pieces);
  /// What took `seconds` is done. A pause of the machine counts as little: at most five times what was to be expected.
  void done(Work kind, double pieces, double seconds);
  /// Nothing before the first piece is done.
  std::optional<double> seconds() const;

 private:
  struct Kind {
    double left = 0, tokens = 0;                   // pieces; of one
    double recent_pieces = 0, recent_seconds = 0;  // the older, the less they weigh
    double seconds_per_piece() const { return recent_seconds / recent_pieces; }
  };
  Kind& of(Work kind) { return kinds_[static_cast<size_t>(kind)]; }

  std::array<Kind, kWorks> kinds_;
};

}  // namespace headprune
