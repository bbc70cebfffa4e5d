// The driver, seen through scores whose values are given by hand.
#include "core/error.h"
#include "support.h"

using namespace headprune;
using namespace headprune::test;

namespace {

/// Gives values as they are told.
class Given final : public ScoreMethod {
 public:
  explicit Given(std::vector<std::vector<double>> values) : values_(std::move(values)) {}
  Keep keep() const override { return direction; }
  Normalize normalize() const override { return how; }
  Needs needs() const override {
    Needs needs;
    needs.data = false;
    return needs;
  }
  std::unique_ptr<Pass> start(const ScoreInput&, int64_t) const override {
    struct Told final : Pass {
      RawScores raw;
      void add(const Observation&) override {}
      RawScores finish() override { return raw; }
    };
    auto pass = std::make_unique<Told>();
    for (const auto& block : values_) {
      pass->raw.values.push_back(torch::tensor(block, torch::kFloat64));
      pass->raw.stderr_.push_back(torch::full({static_cast<int64_t>(block.size())}, 0.5, torch::kFloat64));
    }
    return pass;
  }
  Keep direction = Keep::large;
  Normalize how = Normalize::none;

 private:
  std::vector<std::vector<double>> values_;
};

Importance run(const Given& given, const HeadSet& removed = {}) {
  static const Subject subject = make_subject(Kind::encoder, torch::kFloat32);
  const std::vector<Batch> batches;
  return importance({{&given, "given", 0}}, {*subject.model, subject.task, batches, 0, removed, 0}).at(0);
}

std::vector<double> list(const torch::Tensor& values) {
  const torch::Tensor flat = values.contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

const double kNan = std::numeric_limits<double>::quiet_NaN();
HeadId head(int64_t layer, int64_t index) { return {{Kind::encoder, layer}, index}; }

}  // namespace

TEST_CASE("a small value that means keep is turned, and removed heads stay 0", "[score]") {
  Given given({{1, 2, 0}, {4, 5, 6}});
  given.direction = Keep::small;
  const Importance importance = run(given, HeadSet({head(1, 2)}));
  CHECK(list(importance.values[0]) == std::vector<double>{-1, -2, 0});
  CHECK(list(importance.values[1]) == std::vector<double>{-4, -5, 0});
  CHECK_FALSE(std::signbit(list(importance.values[0])[2]));
  CHECK(list(importance.stderr_[1]) == std::vector<double>{0.5, 0.5, 0});
}

TEST_CASE("layer_l2 divides by the block's norm, leaves removed heads out and an all-zero block at zero", "[score]") {
  Given given({{3, 4, 100}, {0, 0, 0}});
  given.how = Normalize::layer_l2;
  const Importance importance = run(given, HeadSet({head(0, 2)}));
  CHECK(list(importance.values[0]) == std::vector<double>{0.6, 0.8, 0});
  CHECK(list(importance.values[1]) == std::vector<double>{0, 0, 0});
  CHECK(list(importance.stderr_[0]) == std::vector<double>{0.1, 0.1, 0});
}

TEST_CASE("global_minmax maps surviving heads onto [0, 1], and equal ones onto 0", "[score]") {
  Given given({{-1, 4, 100}, {1, 2, 3}});
  given.how = Normalize::global_minmax;
  const Importance importance = run(given, HeadSet({head(0, 2)}));
  CHECK(list(importance.values[0]) == std::vector<double>{0, 1, 0});
  CHECK(list(importance.values[1]) == std::vector<double>{0.4, 0.6, 0.8});
  CHECK(list(importance.stderr_[0]) == std::vector<double>{0.1, 0.1, 0});
  Given equal({{2, 2, 2}, {2, 2, 2}});
  equal.how = Normalize::global_minmax;
  CHECK(list(run(equal).values[1]) == std::vector<double>{0, 0, 0});
}

TEST_CASE("ties are counted among surviving heads, and blocks or models of equal values warn", "[score]") {
  const Importance none = run(Given({{1, 2, 3}, {4, 5, 6}}));
  CHECK(none.ties == 0);
  CHECK(none.warnings.empty());

  const Importance some = run(Given({{1, 2, 3}, {3, 1, 1}}));
  CHECK(some.ties == 5);
  CHECK(some.warnings.empty());

  const Importance block = run(Given({{1, 2, 3}, {7, 7, 7}}));
  CHECK(block.ties == 3);
  REQUIRE(block.warnings.size() == 1);
  CHECK_THAT(block.warnings[0], ContainsSubstring("score given: all heads of encoder.L1 have the same value"));

  const Importance all = run(Given({{7, 7, 7}, {7, 7, 7}}));
  CHECK(all.ties == 6);
  REQUIRE(all.warnings.size() == 1);
  CHECK_THAT(all.warnings[0], ContainsSubstring("all 6 heads have the same value 7"));

  // A removed head neither ties nor saves its block from a warning.
  const Importance removed = run(Given({{1, 2, 3}, {9, 9, 1}}), HeadSet({head(1, 2)}));
  CHECK(removed.ties == 2);
  CHECK(removed.warnings.size() == 1);
  // One head left in a block is not a tie.
  CHECK(run(Given({{1, 2, 3}, {9, 9, 1}}), HeadSet({head(1, 1), head(1, 2)})).warnings.empty());
}

TEST_CASE("a value that is not finite is an error for a surviving head and nothing for a removed one", "[score]") {
  const Given given({{1, 2, 3}, {4, kNan, 6}});
  CHECK_THROWS_WITH(run(given), ContainsSubstring("score given: head encoder.L1.H1 comes to nan"));
  CHECK(list(run(given, HeadSet({head(1, 1)})).values[1]) == std::vector<double>{4, 0, 6});
  try {
    run(given);
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::run_failed);
  }
}

TEST_CASE("an empty score split is an error that says so", "[score]") {
  Subject subject = make_subject(Kind::encoder, torch::kFloat32);
  subject.examples.clear();
  CHECK_THROWS_WITH(score("gradient_l1", subject), ContainsSubstring("the score split is empty"));
  CHECK(score("random", subject).values.size() == 2);
}
