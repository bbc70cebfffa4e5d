#include "stats/metric_info.h"

#include <array>
#include <stdexcept>

namespace headprune {

const MetricInfo* find_metric(const std::string& name) {
  constexpr double kNoEnd = std::numeric_limits<double>::infinity();
  static const std::array<MetricInfo, 12> table = {{
      {"accuracy", true, {0, 1}, /*proportion=*/true},
      {"f1", true, {0, 1}},
      {"matthews", true, {-1, 1}},
      {"pearson", true, {-1, 1}},
      {"spearman", true, {-1, 1}},
      {"bleu", true, {0, 100}},
      {"chrf", true, {0, 100}},
      {"loss", false, {0, kNoEnd}},
      {"mae", false, {0, kNoEnd}},
      {"bits_per_char", false, {0, kNoEnd}},
      {"bits_per_byte", false, {0, kNoEnd}},
      {"perplexity", false, {1, kNoEnd}},
  }};
  for (const MetricInfo& info : table)
    if (info.name == name) return &info;
  return nullptr;
}

const MetricInfo& metric_info(const std::string& name) {
  const MetricInfo* info = find_metric(name);
  if (info == nullptr) throw std::logic_error("no metric " + name);
  return *info;
}

MetricInfo metric_info_or_unbounded(const std::string& name) {
  const MetricInfo* info = find_metric(name);
  return info == nullptr ? MetricInfo{.name = name} : *info;
}

}  // namespace headprune
