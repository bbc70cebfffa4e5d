#include "run/time_left.h"

#include <vector>

#include "support/catch_torch.h"

using namespace headprune;

namespace {

/// Pieces of one kind in the order of a run: how long each takes, and what share of a whole piece it is.
struct Step {
  Work kind = Work::point;
  double seconds = 0, share = 1;
};

/// The largest of |estimate / truth - 1| from a tenth of the run on, while more than a tenth is left.
double worst_error(TimeLeft& left, const std::vector<Step>& steps) {
  double all = 0, gone = 0, worst = 0;
  for (const Step& step : steps) all += step.seconds;
  for (const Step& step : steps) {
    left.done(step.kind, step.share, step.seconds);
    gone += step.seconds;
    if (gone < 0.1 * all || gone > 0.9 * all) continue;
    worst = std::max(worst, std::abs(*left.seconds() / (all - gone) - 1));
  }
  return worst;
}

}  // namespace

TEST_CASE("nothing is known before something is done", "[progress]") {
  TimeLeft left;
  left.expect(Work::point, 10, 1000);
  CHECK_FALSE(left.seconds());
  left.done(Work::point, 1, 2);
  CHECK(*left.seconds() == Approx(18));
}

TEST_CASE("what has not begun is as fast, by its tokens, as what has", "[progress]") {
  TimeLeft left;
  left.expect(Work::train_step, 10, 300);
  left.expect(Work::point, 5, 600);
  left.done(Work::train_step, 1, 3);  // 100 tokens a second
  CHECK(*left.seconds() == Approx(9 * 3 + 5 * 6));
  left.done(Work::point, 1, 12);  // now its own speed counts
  CHECK(*left.seconds() == Approx(9 * 3 + 4 * 12));
  left.skip(Work::point, 4);
  CHECK(*left.seconds() == Approx(9 * 3));
}

TEST_CASE("a tenth into a run the estimate is within a third, whatever stages it has", "[progress]") {
  // Training, scoring, a sweep, a table whose blocks share more and more; speeds half as good or twice as good as their
  // tokens say would be out of reach, a fifth off is not.
  std::vector<Step> steps;
  TimeLeft left;
  left.expect(Work::train_step, 300, 3000);
  left.expect(Work::score_batch, 20, 3000);
  left.expect(Work::point, 11 + 12 * 3.5, 20000);
  for (int i = 0; i < 300; ++i) steps.push_back({Work::train_step, 0.3 + 0.06 * (i % 3)});
  for (int i = 0; i < 20; ++i) steps.push_back({Work::score_batch, 0.4});
  for (int i = 0; i < 11; ++i) steps.push_back({Work::point, 2.4});
  for (int block = 0; block < 6; ++block)
    for (int head = 0; head < 12; ++head) {
      const double share = (6.0 - block) / 6;
      steps.push_back({Work::point, 0.1 + 2.4 * share, share});
    }
  CHECK(worst_error(left, steps) < 1.0 / 3);
}

TEST_CASE("the estimate follows a machine that slows down", "[progress]") {
  TimeLeft left;
  left.expect(Work::point, 200, 1000);
  for (int i = 0; i < 100; ++i) left.done(Work::point, 1, 1);
  CHECK(*left.seconds() == Approx(100));
  for (int i = 0; i < 40; ++i) left.done(Work::point, 1, 3);
  CHECK(*left.seconds() == Approx(180).epsilon(0.05));
}

TEST_CASE("a pause is soon forgotten", "[progress]") {
  TimeLeft left;
  left.expect(Work::point, 200, 1000);
  for (int i = 0; i < 100; ++i) left.done(Work::point, 1, 1);
  left.done(Work::point, 1, 3600);  // the machine slept for an hour
  CHECK(*left.seconds() < 99 * 1.3);
  left.done(Work::point, 1, 1);
  CHECK(*left.seconds() == Approx(98).epsilon(0.25));
}
