// Shapley value of each head in the game whose worth is the mean loss on the score split (Held and Yang 2023 play it
// for multilingual heads): the mean, over random orders of all heads, of how much the loss rises when the head goes
// after those before it. Negative where it does harm. Over one order the rises add up to loss(no head) - loss(all
// heads).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.h"
#include "score/masked_losses.h"

namespace headprune {
namespace {

class Shapley final : public ScoreMethod {
 public:
  struct Options {
    int64_t permutations = 20;
    double truncate = 0;
    std::optional<double> until;
    std::optional<HeadUnit> unit;

    template <class V>
    void fields(V& v) {
      v("permutations", permutations, "random orders at most, each of as many evaluations as there are heads",
        at_least(2));
      v("truncate", truncate,
        "an order ends, its other heads adding nothing, once the loss is nearer to that without any head than this "
        "share of what all heads together are worth; then rises do not add up exactly. 0: never",
        between(0, 1));
      v("until", until,
        "stop after an order when the largest standard error of a head is at most this share of what all heads "
        "together are worth; absent: all permutations",
        above(0));
      v("unit", unit, kScoreUnitHelp);
    }
  };
  explicit Shapley(Options options) : options_(options) {}
  HeadUnit unit() const override { return options_.unit.value_or(HeadUnit::query); }
  std::string note() const override {
    return fmt::format("standard errors over at most {} random orders, not over examples", options_.permutations);
  }
  Needs needs() const override {
    Needs needs;
    needs.data = false;
    return needs;
  }
  int64_t masks(const Blocks& heads) const override {
    return 2 + options_.permutations * (std::ssize(all_heads(in_units(heads, unit()))) - 1);
  }
  std::unique_ptr<Pass> start(const ScoreInput& input, int64_t) const override {
    return std::make_unique<Orders>(options_, input);
  }

 private:
  class Orders final : public Pass {
   public:
    Orders(const Options& options, const ScoreInput& input) : options_(options), input_(input) {}
    void add(const Observation&) override {}

    RawScores finish() override {
      MaskedLosses masked("shapley", input_);
      const std::vector<HeadId>& units = masked.present();
      const auto loss = [&](const HeadSet& without) {
        return split_means(MaskedLosses::losses(masked.outcomes(without)));
      };
      const Ends ends{loss({}), loss(HeadSet(units))};
      mean_.assign(units.size(), {});
      squares_.assign(units.size(), 0);
      for (done_ = 0; done_ < options_.permutations && !exact_enough(std::abs(ends.none[0] - ends.all[0]));)
        add_order(units, ends, loss);
      RawScores raw = scores(masked.units(), units);
      raw.masks = masked.masks();
      return raw;
    }

   private:
    struct Ends {
      SplitMeans all, none;  // losses with every head, and without any
    };

    std::vector<size_t> order(size_t count) const {
      std::vector<size_t> order(count);
      std::iota(order.begin(), order.end(), 0);
      // The same orders in every run: a score of one model is one, whatever the seed of the run.
      Random random(0, fmt::format("score/shapley/{}", done_));
      random.shuffle(order);
      return order;
    }

    template <class Loss>
    void add_order(const std::vector<HeadId>& units, const Ends& ends, const Loss& loss) {
      std::vector<SplitMeans> rises(units.size(), SplitMeans{});
      HeadSet gone;
      SplitMeans before = ends.all;
      const std::vector<size_t> order = this->order(units.size());
      for (size_t i = 0; i < order.size(); ++i) {
        gone.insert(units[order[i]]);
        const SplitMeans after = i + 1 == order.size() ? ends.none : loss(gone);
        for (size_t m = 0; m < after.size(); ++m) rises[order[i]][m] = after[m] - before[m];
        before = after;
        const double worth = std::abs(ends.none[0] - ends.all[0]);
        if (options_.truncate > 0 && std::abs(ends.none[0] - after[0]) < options_.truncate * worth) break;
      }
      ++done_;
      for (size_t u = 0; u < units.size(); ++u) {  // Welford
        const double away = rises[u][0] - mean_[u][0];
        for (size_t m = 0; m < mean_[u].size(); ++m)
          mean_[u][m] += (rises[u][m] - mean_[u][m]) / static_cast<double>(done_);
        squares_[u] += away * (rises[u][0] - mean_[u][0]);
      }
    }

    double standard_error(size_t unit) const {
      const auto n = static_cast<double>(done_);
      return std::sqrt(squares_[unit] / (n - 1) / n);
    }

    bool exact_enough(double worth) const {
      if (!options_.until || done_ < 2) return false;
      double largest = 0;
      for (size_t u = 0; u < mean_.size(); ++u) largest = std::max(largest, standard_error(u));
      return largest <= *options_.until * worth;
    }

    RawScores scores(const ScoreUnits& all, const std::vector<HeadId>& units) const {
      RawScores raw = blank_scores(all.blocks(), input_.examples, /*error=*/true);
      for (size_t b = 0; b < raw.values.size(); ++b) {
        const BlockHeads& block = all.blocks()[b];
        for (int64_t i = 0; i < block.count(); ++i) {
          const HeadId unit{block.id, block.heads[static_cast<size_t>(i)]};
          const auto at = std::find(units.begin(), units.end(), unit);
          if (at == units.end()) continue;
          const auto u = static_cast<size_t>(at - units.begin());
          set_score(raw, b, i, {mean_[u], standard_error(u)});
        }
      }
      return raw;
    }

    Options options_;
    ScoreInput input_;
    std::vector<SplitMeans> mean_;  // of each unit's rises over the orders done
    std::vector<double> squares_;   // summed squares of deviations from it, over all examples
    int64_t done_ = 0;
  };

  Options options_;
};

const Register<ScoreMethod, Shapley> register_shapley{
    "shapley", "mean rise of the loss when the head goes, over random orders of all heads; many passes"};

}  // namespace
}  // namespace headprune
