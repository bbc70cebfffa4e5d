#include "stats/agreement.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "stats/agreement_chance.h"

namespace headprune {
namespace {

void check_sizes(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) throw std::invalid_argument("agreement: both sides have one value per head");
}

std::vector<size_t> sorted_positions(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) { return values[i] < values[j]; });
  return order;
}

std::vector<double> average_ranks(std::span<const double> values) {
  std::vector<double> ranks;
  for (const int64_t doubled : double_ranks(values)) ranks.push_back(0.5 * static_cast<double>(doubled));
  return ranks;
}

/// Pearson correlation of ranks, whose mean is (n + 1) / 2 whatever the ties.
std::optional<double> rank_correlation(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 2) return std::nullopt;
  const double mean = 0.5 * static_cast<double>(a.size() + 1);
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) * (a[i] - mean);
    bb += (b[i] - mean) * (b[i] - mean);
  }
  if (aa == 0 || bb == 0) return std::nullopt;
  return ab / std::sqrt(aa * bb);
}

/// Number of exchanges that sort `values`: pairs in the wrong order. Sorts them.
int64_t count_inversions(std::span<double> values, std::vector<double>& scratch) {
  if (values.size() < 2) return 0;
  const size_t half = values.size() / 2;
  int64_t inversions = count_inversions(values.first(half), scratch) + count_inversions(values.subspan(half), scratch);
  scratch.clear();
  size_t left = 0, right = half;
  while (left < half || right < values.size()) {
    if (right == values.size() || (left < half && values[left] <= values[right])) {
      scratch.push_back(values[left++]);
    } else {
      inversions += static_cast<int64_t>(half - left);
      scratch.push_back(values[right++]);
    }
  }
  std::copy(scratch.begin(), scratch.end(), values.begin());
  return inversions;
}

/// Pairs within runs of neighbours that `same` calls equal.
int64_t tied_pairs(size_t n, const std::function<bool(size_t, size_t)>& same) {
  int64_t pairs = 0, run = 0;
  for (size_t i = 1; i < n; ++i) {
    run = same(i - 1, i) ? run + 1 : 0;
    pairs += run;
  }
  return pairs;
}

std::vector<char> first_k(std::span<const double> values, int64_t k) {
  std::vector<char> member(values.size(), 0);
  const std::vector<size_t> order = sorted_positions(values);
  for (int64_t i = 0; i < k; ++i) member[order[static_cast<size_t>(i)]] = 1;
  return member;
}

std::optional<double> compute(const AgreementRequest& request, std::span<const double> a, std::span<const double> b) {
  switch (request.statistic) {
    case AgreementStatistic::spearman:
      return spearman(a, b);
    case AgreementStatistic::kendall_tau_b:
      return kendall_tau_b(a, b);
    case AgreementStatistic::topk_jaccard:
      return topk_jaccard(a, b, request.k);
  }
  throw std::invalid_argument("agreement: unknown statistic");
}

}  // namespace

std::optional<double> spearman(std::span<const double> a, std::span<const double> b) {
  check_sizes(a, b);
  return rank_correlation(average_ranks(a), average_ranks(b));
}

std::optional<double> kendall_tau_b(std::span<const double> a, std::span<const double> b) {
  check_sizes(a, b);
  const size_t n = a.size();
  if (n < 2) return std::nullopt;
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t i, size_t j) { return a[i] != a[j] ? a[i] < a[j] : b[i] < b[j]; });
  std::vector<double> sorted(n), scratch;
  for (size_t i = 0; i < n; ++i) sorted[i] = b[order[i]];
  const auto same_a = [&](size_t i, size_t j) { return a[order[i]] == a[order[j]]; };
  const int64_t ties_a = tied_pairs(n, same_a);
  const int64_t ties_both = tied_pairs(n, [&](size_t i, size_t j) { return same_a(i, j) && sorted[i] == sorted[j]; });
  const int64_t discordant = count_inversions(sorted, scratch);
  const int64_t ties_b = tied_pairs(n, [&](size_t i, size_t j) { return sorted[i] == sorted[j]; });
  const int64_t pairs = static_cast<int64_t>(n * (n - 1) / 2);
  if (pairs == ties_a || pairs == ties_b) return std::nullopt;
  const double numerator = static_cast<double>(pairs - ties_a - ties_b + ties_both - 2 * discordant);
  return numerator / std::sqrt(static_cast<double>(pairs - ties_a)) / std::sqrt(static_cast<double>(pairs - ties_b));
}

double topk_jaccard(std::span<const double> a, std::span<const double> b, int64_t k) {
  check_sizes(a, b);
  if (k < 0 || k > static_cast<int64_t>(a.size())) throw std::invalid_argument("topk_jaccard: k must be in 0 ... n");
  if (k == 0) return 1.0;
  const std::vector<char> in_a = first_k(a, k), in_b = first_k(b, k);
  int64_t common = 0;
  for (size_t i = 0; i < in_a.size(); ++i) common += in_a[i] != 0 && in_b[i] != 0 ? 1 : 0;
  return static_cast<double>(common) / static_cast<double>(2 * k - common);
}

const char* to_string(AgreementStatistic statistic) {
  switch (statistic) {
    case AgreementStatistic::spearman:
      return "spearman";
    case AgreementStatistic::kendall_tau_b:
      return "kendall_tau_b";
    case AgreementStatistic::topk_jaccard:
      return "topk_jaccard";
  }
  throw std::invalid_argument("to_string: unknown statistic");
}

Agreement agreement(const AgreementRequest& request, std::span<const double> a, std::span<const double> b,
                    ChanceOrders* chance) {
  Agreement result;
  result.n = static_cast<int64_t>(a.size());
  result.value = compute(request, a, b);
  if (!result.value || chance == nullptr) return result;
  switch (request.statistic) {
    case AgreementStatistic::spearman:
      result.p = spearman_p(a, b, *chance);
      break;
    case AgreementStatistic::kendall_tau_b:
      result.p = kendall_p(a, b, *chance);
      break;
    case AgreementStatistic::topk_jaccard:
      // J = common / (2 k - common).
      result.p = overlap_p(result.n, request.k, std::llround(2.0 * request.k * *result.value / (1 + *result.value)));
      break;
  }
  return result;
}

}  // namespace headprune
