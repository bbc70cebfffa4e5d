#include "report/numbers/repetitions.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "stats/tests.h"

namespace headprune {
namespace {

/// The mean of measurements of one seed; examples only where all have as many.
Measurement mean_of(const std::vector<const Measurement*>& members) {
  Measurement mean{.seed = members.front()->seed, .draw = members.front()->draw};
  const double share = 1.0 / static_cast<double>(members.size());
  const size_t n = members.front()->examples.size();
  bool kept = true;
  for (const Measurement* member : members) {
    mean.value += share * member->value;
    kept = kept && member->examples.size() == n;
  }
  if (members.size() == 1) mean.value = members.front()->value;
  if (!kept) return mean;
  mean.examples.assign(n, 0.0F);
  for (const Measurement* member : members)
    for (size_t i = 0; i < n; ++i) mean.examples[i] += static_cast<float>(share) * member->examples[i];
  return mean;
}

bool zeros_and_ones(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return value == 0 || value == 1; });
}

std::vector<float> less(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> difference;
  if (a.size() != b.size()) return difference;
  for (size_t i = 0; i < a.size(); ++i) difference.push_back(a[i] - b[i]);
  return difference;
}

}  // namespace

Crossed Repetitions::crossed() const {
  std::vector<double> values;
  std::vector<std::span<const float>> examples;
  const size_t n = repeated.front().examples.size();
  for (const Measurement& one : repeated) {
    values.push_back(one.value);
    if (one.examples.size() == n && n > 0) examples.emplace_back(one.examples);
  }
  if (examples.size() != values.size()) examples.clear();
  return headprune::crossed(values, examples);
}

bool seeds_differ(const Record& record) {
  return !record.facts || record.facts->seeds_differ_in != SeedsDifferIn::nothing;
}

Repetitions repeated(const Record& record, std::vector<Measurement> members) {
  std::stable_sort(members.begin(), members.end(), [](const Measurement& a, const Measurement& b) {
    return std::tie(a.seed, a.draw) < std::tie(b.seed, b.draw);
  });
  std::map<int64_t, std::vector<const Measurement*>> by_seed;
  for (const Measurement& member : members) by_seed[member.seed].push_back(&member);
  Repetitions result;
  std::vector<Measurement> seeds;
  for (const auto& [seed, draws] : by_seed) {
    seeds.push_back(mean_of(draws));
    result.seeds.push_back(seeds.back().value);
  }
  const bool orders = seeds.size() == 1 || !seeds_differ(record);
  result.over = orders ? "orders" : "seeds";
  result.repeated = orders ? members : std::move(seeds);
  result.members = std::move(members);
  return result;
}

Repetitions distinct(const Record& record, std::vector<Measurement> members) {
  if (!seeds_differ(record) && members.size() > 1 && all_the_same(members)) members.resize(1);
  return repeated(record, std::move(members));
}

Difference difference_of_models(const Measurement& from, const Measurement& to, const MetricInfo& metric) {
  Difference difference;
  difference.delta = to.value - from.value;
  const std::vector<float> examples = less(to.examples, from.examples);
  if (examples.empty()) return difference;
  if (metric.proportion && zeros_and_ones(from.examples) && zeros_and_ones(to.examples)) {
    const int64_t gained = std::count(examples.begin(), examples.end(), 1.0F);
    const int64_t lost = std::count(examples.begin(), examples.end(), -1.0F);
    return paired_accuracy_difference(gained, lost, std::ssize(examples));
  }
  const std::vector<double> value = {difference.delta};
  difference = crossed_difference(crossed(value, {std::span<const float>(examples)}), metric);
  if (!difference.test.empty()) difference.test = "paired_t";
  return difference;
}

bool all_the_same(const std::vector<Measurement>& members) {
  return std::all_of(members.begin(), members.end(), [&](const Measurement& member) {
    return member.value == members.front().value && member.examples == members.front().examples;
  });
}

std::optional<Repetitions> paired_difference(const Repetitions& one, const Repetitions& other) {
  if (one.repeated.size() != other.repeated.size() || one.over != other.over) return std::nullopt;
  Repetitions difference;
  difference.over = one.over;
  const bool orders = one.over == "orders";  // the draws of a seed are averaged
  for (size_t i = 0; i < one.repeated.size(); ++i) {
    const Measurement &a = one.repeated[i], &b = other.repeated[i];
    if (a.seed != b.seed || (orders && a.draw != b.draw)) return std::nullopt;
    difference.repeated.push_back({a.seed, a.draw, a.value - b.value, less(a.examples, b.examples)});
  }
  for (const Measurement& seed : difference.repeated) difference.seeds.push_back(seed.value);
  difference.members = difference.repeated;
  return difference;
}

std::optional<Measurement> measured_value(const Record& record, const PointResult& point, const std::string& metric) {
  const MetricResult* result = point.metric(metric);
  if (result == nullptr) return std::nullopt;
  Measurement measured{point.spec.seed, point.spec.draw.value_or(0), result->estimate.value, {}};
  const std::vector<float>* examples = record.examples ? record.examples->of(point, metric) : nullptr;
  if (examples != nullptr) measured.examples = *examples;
  return measured;
}

std::optional<Measurement> measured_difference(const Record& record, const PointResult& point,
                                               const std::string& metric) {
  const MetricResult* result = point.metric(metric);
  if (result == nullptr || !result->difference) return std::nullopt;
  Measurement measured{point.spec.seed, point.spec.draw.value_or(0), result->difference->delta, {}};
  const PointResult* base = record.base(point.spec);
  if (record.examples == nullptr || base == nullptr) return measured;
  const std::vector<float>*own = record.examples->of(point, metric), *before = record.examples->of(*base, metric);
  if (own != nullptr && before != nullptr) measured.examples = less(*own, *before);
  return measured;
}

}  // namespace headprune
