#include "metric/chrf.h"

#include <vector>

#include "data/unicode.h"
#include "metric/ngrams.h"
#include "metric/text_metric.h"

namespace headprune {

namespace {

constexpr size_t kChrfOrder = 6;
constexpr double kBetaSquared = 4;  // recall counts twice as much as precision

std::vector<int32_t> visible_code_points(std::string_view text) {
  std::vector<int32_t> code_points;
  for (size_t at = 0; at < text.size();)
    if (const int32_t one = take_code_point(text, at); !is_python_space(one)) code_points.push_back(one);
  return code_points;
}

}  // namespace

ChrfStatistics chrf_statistics(std::string_view hypothesis, std::string_view reference) {
  const std::vector<int32_t> ours = visible_code_points(hypothesis), wanted = visible_code_points(reference);
  ChrfStatistics statistics = {};
  for (size_t n = 1; n <= kChrfOrder; ++n) {
    double* order = statistics.data() + 3 * (n - 1);
    order[0] = static_cast<double>(wanted.size() < n ? 0 : ngram_count(ours.size(), n));
    order[1] = static_cast<double>(ngram_count(wanted.size(), n));
    order[2] = static_cast<double>(matched_ngrams(ours, wanted, n));
  }
  return statistics;
}

double chrf_of(std::span<const double> sums) {
  double precision = 0, recall = 0, orders = 0;
  for (size_t n = 0; n < kChrfOrder; ++n) {
    const double ours = sums[3 * n], wanted = sums[3 * n + 1], matched = sums[3 * n + 2];
    if (ours == 0 || wanted == 0) continue;
    precision += matched / ours;
    recall += matched / wanted;
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  return 100 * (1 + kBetaSquared) * precision * recall / (kBetaSquared * precision + recall);
}

namespace {

class Chrf final : public TextMetric {
 public:
  explicit Chrf(Options) {}
  std::string signature() const override { return std::string(kChrfSignature); }

 protected:
  ExampleMetric of_corpus(const Outcomes& outcomes) const override {
    return of_text_statistics(outcomes, chrf_statistics, chrf_of);
  }
};

const Register<Metric, Chrf> register_chrf{"chrf", "corpus chrF as sacreBLEU computes it"};

}  // namespace

}  // namespace headprune
