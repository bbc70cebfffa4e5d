#include <set>

#include "support.h"

using namespace headprune;
using namespace headprune::test;

TEST_CASE("random numbers are uniform, differ between heads and draws, and do not depend on other heads", "[score]") {
  const Subject subject = make_subject(Kind::encoder, torch::kFloat32);
  const Subject cut = make_subject(Kind::encoder, torch::kFloat32, HeadSet({{{Kind::encoder, 0}, 0}}));
  std::set<double> seen;
  double sum = 0;
  const int64_t draws = 300;
  for (int64_t draw = 0; draw < draws; ++draw) {
    const Importance importance = score("random", subject, {.draw = draw});
    const Importance without = score("random", cut, {.draw = draw});
    CHECK(importance.stderr_.empty());
    for (const HeadId& head : all_heads(subject.model->blocks())) {
      const double value = value_of(importance, subject.model->blocks(), head);
      CHECK((value >= 0 && value < 1));
      seen.insert(value);
      sum += value;
      if (head != HeadId{{Kind::encoder, 0}, 0}) CHECK(value_of(without, cut.model->blocks(), head) == value);
    }
  }
  CHECK(seen.size() == static_cast<size_t>(draws * 6));
  CHECK(sum / static_cast<double>(draws * 6) == Approx(0.5).margin(0.035));  // five standard errors
}

TEST_CASE("another seed gives other random numbers", "[score]") {
  const Subject subject = make_subject(Kind::encoder, torch::kFloat32);
  const auto method = make_score("random");
  const HeadSet none;
  const std::vector<Batch> batches;
  const auto values = [&](uint64_t seed) {
    return importance({{method.get(), "random", 0}}, {*subject.model, subject.task, batches, 0, none, seed})[0].values;
  };
  CHECK(relative_difference(values(1), values(1)) == 0);
  CHECK(relative_difference(values(1), values(2)) > 0);
}
