// The metric that src/metric/README.md shows: compiled from there, registered, offered by its task, and right.
#include "core/files.h"
#include "metric/metric.h"
#include "support/catch_torch.h"

using namespace headprune;

TEST_CASE("the README's metric is half the mean squared error", "[metric][readme]") {
  const std::vector<std::string> offered = metric_names(DataKind::numbered);
  CHECK(std::find(offered.begin(), offered.end(), "half_squares") != offered.end());
  Outcomes outcomes(3);
  for (size_t i = 0; i < outcomes.size(); ++i) {
    outcomes[i].number = 1;
    outcomes[i].predicted_number = 1 + static_cast<double>(i);  // errors 0, 1, 2
  }
  const MeasuredMetric metric = measured_metric("half_squares", DataKind::numbered);
  CHECK(metric.metric->value(outcomes) == Approx(5.0 / 6));
  const SharedBootstrap shared;
  const MetricResult result = metric.metric->measure(
      {.outcomes = outcomes, .base = nullptr, .bootstrap_iters = 100, .seed = 1}, metric.info, shared);
  CHECK(result.estimate.value == Approx(5.0 / 6));
  REQUIRE(result.estimate.ci95);
  CHECK((*result.estimate.ci95)[0] >= 0);
}

TEST_CASE("the README names what a new metric needs", "[metric][readme]") {
  const std::string readme = read_file(fs::path(HEADPRUNE_SOURCE_DIR) / "src/metric/README.md");
  for (const char* name : {"src/metric/CMakeLists.txt", "tests/cli/docs_test.cpp", "tests/metric/registry_test.cpp"}) {
    CHECK_THAT(readme, ContainsSubstring(name));
    CHECK(fs::exists(fs::path(HEADPRUNE_SOURCE_DIR) / name));
  }
}
