#include "stats/agreement_chance.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "core/random.h"

namespace headprune {
namespace {

constexpr size_t kAllOrders = 7;          // 5,040 orders
constexpr size_t kExactInversions = 500;  // n^3 / 12 additions

std::vector<uint32_t> identity(size_t n) {
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

int64_t pairs_of(size_t n) { return static_cast<int64_t>(n * (n - 1) / 2); }

/// Concordant minus discordant pairs of two rankings, one of them put into other orders.
class Concordance {
 public:
  Concordance(std::span<const double> a, std::span<const double> b)
      : ranks_(double_ranks(b)), order_(identity(a.size())) {
    const std::vector<int64_t> ranks_a = double_ranks(a);
    std::sort(order_.begin(), order_.end(), [&](uint32_t i, uint32_t j) { return ranks_a[i] < ranks_a[j]; });
    for (size_t begin = 0; begin < order_.size();) {
      size_t end = begin + 1;
      while (end < order_.size() && ranks_a[order_[end]] == ranks_a[order_[begin]]) ++end;
      if (end - begin > 1) groups_.push_back({begin, end});
      pairs_of_a_ -= pairs_of(end - begin);
      begin = end;
    }
    pairs_of_a_ += pairs_of(a.size());
    std::vector<int64_t> sorted = ranks_;
    std::sort(sorted.begin(), sorted.end());
    ties_b_ = tied_pairs(sorted);
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    // Ranks from 1 without gaps, for the tree of counts.
    for (int64_t& rank : ranks_) rank = std::lower_bound(sorted.begin(), sorted.end(), rank) - sorted.begin() + 1;
    tree_.resize(sorted.size() + 1);
    moved_.resize(ranks_.size());
  }

  bool ties() const { return !groups_.empty() || ties_b_ > 0; }

  /// With the value of head order[i] at head i.
  int64_t operator()(const uint32_t* order) {
    for (size_t i = 0; i < moved_.size(); ++i) moved_[i] = ranks_[order[order_[i]]];
    int64_t ties_both = 0;
    for (const auto& [begin, end] : groups_) {
      const std::span<int64_t> group(moved_.data() + begin, end - begin);
      std::sort(group.begin(), group.end());
      ties_both += tied_pairs(group);
    }
    return pairs_of_a_ - ties_b_ + ties_both - 2 * inversions();
  }

 private:
  static int64_t tied_pairs(std::span<const int64_t> sorted) {
    int64_t pairs = 0, run = 0;
    for (size_t i = 1; i < sorted.size(); ++i) {
      run = sorted[i] == sorted[i - 1] ? run + 1 : 0;
      pairs += run;
    }
    return pairs;
  }

  /// Pairs of moved_ in the wrong order, by a Fenwick tree of how often each rank was seen.
  int64_t inversions() {
    std::fill(tree_.begin(), tree_.end(), 0);
    int64_t wrong = 0;
    for (size_t i = 0; i < moved_.size(); ++i) {
      const auto rank = static_cast<size_t>(moved_[i]);
      int64_t not_larger = 0;
      for (size_t node = rank; node > 0; node &= node - 1) not_larger += tree_[node];
      wrong += static_cast<int64_t>(i) - not_larger;
      for (size_t node = rank; node < tree_.size(); node += node & (~node + 1)) ++tree_[node];
    }
    return wrong;
  }

  std::vector<int64_t> ranks_, moved_;
  std::vector<uint32_t> order_;                    // positions by a
  std::vector<std::pair<size_t, size_t>> groups_;  // of order_ with equal a
  std::vector<int32_t> tree_;
  int64_t pairs_of_a_ = 0, ties_b_ = 0;
};

/// Share of the orders whose statistic is at least as far from zero as that of the first.
template <class Statistic>
double share_as_extreme(const std::vector<uint32_t>& orders, size_t n, Statistic&& statistic) {
  const int64_t observed = std::abs(statistic(orders.data()));
  int64_t extreme = 0;
  for (size_t at = 0; at < orders.size(); at += n)
    extreme += std::abs(statistic(orders.data() + at)) >= observed ? 1 : 0;
  return static_cast<double>(extreme) / static_cast<double>(orders.size() / n);
}

}  // namespace

std::vector<int64_t> double_ranks(std::span<const double> values) {
  std::vector<uint32_t> order = identity(values.size());
  std::sort(order.begin(), order.end(), [&](uint32_t i, uint32_t j) { return values[i] < values[j]; });
  std::vector<int64_t> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<int64_t>(begin + end + 1);
    begin = end;
  }
  return ranks;
}

ChanceOrders::ChanceOrders(uint64_t seed, std::string_view name, int64_t count)
    : seed_(stream_seed(seed, name)), count_(count) {}

const std::vector<uint32_t>& ChanceOrders::orders(size_t n) {
  const auto [found, missing] = orders_.try_emplace(n);
  std::vector<uint32_t>& orders = found->second;
  if (!missing) return orders;
  std::vector<uint32_t> order = identity(n);
  if (n <= kAllOrders) {
    do orders.insert(orders.end(), order.begin(), order.end());
    while (std::next_permutation(order.begin(), order.end()));
    return orders;
  }
  Random random(seed_, "orders-" + std::to_string(n));
  orders = order;
  orders.reserve(n * static_cast<size_t>(count_ + 1));
  for (int64_t i = 0; i < count_; ++i) {
    random.shuffle(order);
    orders.insert(orders.end(), order.begin(), order.end());
  }
  return orders;
}

const std::vector<double>& ChanceOrders::inversions(size_t n) {
  const auto [found, missing] = inversions_.try_emplace(n);
  if (!missing) return found->second;
  // The i-th thing is put before 0 ... i - 1 others, each as likely: a running mean of i of the values for i - 1. Only
  // the rising half is summed, so that small chances stay exact; the other half mirrors it.
  std::vector<double> chance = {1.0};
  for (size_t i = 2; i <= n; ++i) {
    const auto pairs = static_cast<size_t>(pairs_of(i));
    std::vector<double> next(pairs + 1);
    double window = 0;
    for (size_t m = 0; m <= pairs / 2; ++m) {
      if (m < chance.size()) window += chance[m];
      if (m >= i) window -= chance[m - i];
      next[m] = next[pairs - m] = window / static_cast<double>(i);
    }
    chance = std::move(next);
  }
  chance.resize(chance.size() / 2 + 1);
  std::partial_sum(chance.begin(), chance.end(), chance.begin());
  return found->second = std::move(chance);
}

double spearman_p(std::span<const double> a, std::span<const double> b, ChanceOrders& chance) {
  const size_t n = a.size();
  std::vector<int64_t> ranks_a = double_ranks(a), ranks_b = double_ranks(b);
  for (int64_t& rank : ranks_a) rank -= static_cast<int64_t>(n) + 1;
  for (int64_t& rank : ranks_b) rank -= static_cast<int64_t>(n) + 1;
  return share_as_extreme(chance.orders(n), n, [&](const uint32_t* order) {
    int64_t sum = 0;
    for (size_t i = 0; i < n; ++i) sum += ranks_a[i] * ranks_b[order[i]];
    return sum;
  });
}

double kendall_p(std::span<const double> a, std::span<const double> b, ChanceOrders& chance) {
  const size_t n = a.size();
  Concordance concordance(a, b);
  if (concordance.ties() || n <= kAllOrders || n > kExactInversions)
    return share_as_extreme(chance.orders(n), n, concordance);
  const int64_t pairs = pairs_of(n);
  const std::vector<uint32_t> observed = identity(n);
  const int64_t discordant = (pairs - concordance(observed.data())) / 2;
  const int64_t fewer = std::min(discordant, pairs - discordant);
  if (2 * fewer == pairs) return 1.0;
  return std::min(1.0, 2 * chance.inversions(n)[static_cast<size_t>(fewer)]);
}

double overlap_p(int64_t n, int64_t k, int64_t common) {
  const auto choices = [](int64_t of, int64_t take) {  // logarithm of how many
    return std::lgamma(static_cast<double>(of + 1)) - std::lgamma(static_cast<double>(take + 1)) -
           std::lgamma(static_cast<double>(of - take + 1));
  };
  double p = 0;
  for (int64_t shared = std::max(common, 2 * k - n); shared <= k; ++shared)
    p += std::exp(choices(k, shared) + choices(n - k, k - shared) - choices(n, k));
  return std::min(1.0, p);
}

}  // namespace headprune
