// How often the intervals that headprune prints contain what they are about, and how often it stars nothing at all:
// docs/definitions.md "Statistics" by simulation. scripts/bench-coverage builds and runs it.
//
// Accuracy: example i has a difficulty, seed s a skill, both normal on the logit scale, and a seed gets an example
// right with the probability that they make. Their spread is such that the accuracy of one seed varies over seeds by
// about one percentage point at 0.9, and what one seed gets right others mostly do too. The truth is the mean over all
// seeds and examples, found by quadrature; of a single seed, whose interval is about its own model, over all examples.
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "stats/bootstrap.h"
#include "stats/crossed.h"
#include "stats/intervals.h"
#include "stats/tests.h"

namespace headprune {
namespace {

constexpr int kTrials = 2000;
constexpr double kExampleSpread = 2.0, kSeedSpread = 0.12, kSeedByExample = 1.0;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// Mean of logistic(shift + spread z) over a standard normal z.
double mean_logistic(double shift, double spread) {
  double sum = 0, weights = 0;
  for (double z = -8; z <= 8; z += 0.01) {
    const double weight = std::exp(-z * z / 2);
    sum += weight * logistic(shift + spread * z);
    weights += weight;
  }
  return sum / weights;
}

/// The shift that makes the accuracy `wanted`, with skills that spread so far.
double shift_for(double wanted, double skills) {
  const double spread = std::hypot(std::hypot(kExampleSpread, skills), kSeedByExample);
  double low = -20, high = 20;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (mean_logistic(middle, spread) < wanted ? low : high) = middle;
  }
  return low;
}

const MetricInfo kAccuracy{.name = "accuracy", .range = {0, 1}, .proportion = true};
using Table = std::vector<std::vector<float>>;  // seeds, examples

class World {
 public:
  /// `seeds` 1: every model has the same skill, since an interval over examples is about one model.
  World(double accuracy, size_t seeds, uint64_t random_seed)
      : always_(accuracy >= 1),
        skills_(seeds > 1 ? kSeedSpread : 0),
        shift_(always_ ? 0 : shift_for(accuracy, skills_)),
        random_(random_seed) {}

  /// `models` tables over the same examples: of one accuracy, with skills of their own.
  std::vector<Table> draw(size_t models, size_t seeds, size_t n) {
    std::vector<Table> all(models, Table(seeds, std::vector<float>(n, 1)));
    if (always_) return all;
    std::vector<double> difficulty(n);
    for (double& one : difficulty) one = shift_ + kExampleSpread * normal_(random_);
    for (size_t s = 0; s < seeds; ++s) {
      for (Table& table : all) {
        const double skill = skills_ * normal_(random_);
        for (size_t i = 0; i < n; ++i) {
          const double chance = logistic(difficulty[i] + skill + kSeedByExample * normal_(random_));
          table[s][i] = uniform_(random_) < chance ? 1 : 0;
        }
      }
    }
    return all;
  }

 private:
  bool always_;
  double skills_, shift_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
};

std::vector<double> means(const Table& table) {
  std::vector<double> values;
  for (const std::vector<float>& row : table) {
    double sum = 0;
    for (const float value : row) sum += value;
    values.push_back(sum / static_cast<double>(row.size()));
  }
  return values;
}

std::vector<std::span<const float>> rows(const Table& table) { return {table.begin(), table.end()}; }

/// As report/ does: one seed has Wilson's interval, several the crossed one.
std::array<double, 2> printed(const Table& table) {
  if (table.size() == 1) {
    const auto right = std::count(table[0].begin(), table[0].end(), 1.0F);
    return *wilson(right, std::ssize(table[0])).ci95;
  }
  return *crossed_estimate(crossed(means(table), rows(table)), kAccuracy).ci95;
}

/// What it is held against: Clopper and Pearson's exact interval of one seed; of several, Student's over seeds, which
/// leaves out the examples.
std::array<double, 2> beside(const Table& table) {
  const std::vector<double> values = means(table);
  if (table.size() == 1) {
    const double n = static_cast<double>(table[0].size()), right = std::round(values[0] * n);
    using binomial = boost::math::binomial_distribution<>;
    return {binomial::find_lower_bound_on_p(n, right, 0.025), binomial::find_upper_bound_on_p(n, right, 0.025)};
  }
  const double k = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / k;
  const double half = boost::math::quantile(boost::math::students_t(k - 1), 0.975) * sample_sd(values) / std::sqrt(k);
  return {mean - half, mean + half};
}

struct Tally {
  double covered = 0, width = 0, lowest = 1, highest = 0;
  void add(const std::array<double, 2>& interval, double truth) {
    covered += truth >= interval[0] - 1e-12 && truth <= interval[1] + 1e-12 ? 1.0 / kTrials : 0.0;
    width += (interval[1] - interval[0]) / kTrials;
    lowest = std::min(lowest, interval[0]);
    highest = std::max(highest, interval[1]);
  }
};

/// p of the difference between two tables, as report/ finds it.
double printed_p(const Table& a, const Table& b) {
  if (a.size() == 1) {
    int64_t gained = 0, lost = 0;
    for (size_t i = 0; i < a[0].size(); ++i) gained += b[0][i] > a[0][i], lost += b[0][i] < a[0][i];
    return *paired_accuracy_difference(gained, lost, std::ssize(a[0])).p;
  }
  Table difference = b;
  for (size_t s = 0; s < a.size(); ++s)
    for (size_t i = 0; i < a[s].size(); ++i) difference[s][i] -= a[s][i];
  return *crossed_difference(crossed(means(difference), rows(difference)), kAccuracy).p;
}

/// Part of comparisons starred between two configurations of one accuracy.
double null_stars(double accuracy, size_t seeds, size_t n, uint64_t seed) {
  World world(accuracy, seeds, seed);
  int starred = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::vector<Table> two = world.draw(2, seeds, n);
    starred += printed_p(two[0], two[1]) < 0.05 ? 1 : 0;
  }
  return static_cast<double>(starred) / kTrials;
}

int run() {
  bool fine = true;
  fmt::print("| accuracy | n | seeds | coverage | mean width | lowest, highest end | beside: coverage, width | null p < 0.05 |\n");
  fmt::print("| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (const double accuracy : {0.5, 0.9, 0.99, 1.0}) {
    for (const size_t n : {200, 2000}) {
      for (const size_t seeds : {1, 2, 3, 5, 10}) {
        World world(accuracy, seeds, seeds * 1000 + n);
        Tally ours, other;
        for (int trial = 0; trial < kTrials; ++trial) {
          const Table table = world.draw(1, seeds, n)[0];
          ours.add(printed(table), accuracy);
          other.add(beside(table), accuracy);
        }
        const double stars = null_stars(accuracy, seeds, n, seeds * 77 + n);
        const bool ok = ours.covered >= 0.93 && ours.lowest >= 0 && ours.highest <= 1 && stars <= 0.06;
        fine = fine && ok;
        fmt::print("| {} | {} | {} | {:.3f} | {:.4f} | {:.3f}, {:.3f} | {:.3f}, {:.4f} | {:.3f} |{}\n", accuracy, n, seeds,
                   ours.covered, ours.width, ours.lowest, ours.highest, other.covered, other.width, stars,
                   ok ? "" : " <- MISSED");
        std::fflush(stdout);
      }
    }
  }
  fmt::print("{}\n", fine ? "every interval covers, stays in range and stars at most 6 % of null comparisons" : "MISSED");
  return fine ? 0 : 1;
}

}  // namespace
}  // namespace headprune

int main() { return headprune::run(); }
