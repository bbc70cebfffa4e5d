#include "metric/constant.h"

#include <cmath>

#include "support/catch_torch.h"

using namespace headprune;

namespace {

Outcomes predicted_labels(const std::vector<int64_t>& predicted) {
  Outcomes all;
  for (const int64_t label : predicted) {
    Outcome& one = all.emplace_back();
    one.target = static_cast<int64_t>(all.size()) % 2;
    one.predicted = label;
  }
  return all;
}

Outcomes predicted_numbers(const std::vector<double>& predicted) {
  Outcomes all;
  for (const double number : predicted) {
    Outcome& one = all.emplace_back();
    one.number = static_cast<double>(all.size());
    one.predicted_number = number;
  }
  return all;
}

}  // namespace

TEST_CASE("a model that says the same of every example is found out", "[task]") {
  CHECK(constant_prediction(predicted_labels({1, 1, 1})) == "1");
  CHECK_FALSE(constant_prediction(predicted_labels({1, 1, 0})));
  CHECK_FALSE(constant_prediction(predicted_labels({1})));
  CHECK_FALSE(constant_prediction(predicted_labels({-1, -1})));  // not finite: said elsewhere
  CHECK(constant_prediction(predicted_numbers({2.5, 2.5000001, 2.5})) == "2.5");
  CHECK(constant_prediction(predicted_numbers({0, 0})) == "0");
  CHECK_FALSE(constant_prediction(predicted_numbers({2.5, 2.6})));
  CHECK_FALSE(constant_prediction(predicted_numbers({NAN, NAN})));
  Outcomes texts(2);
  texts[0].reference = "a";
  texts[1].reference = "b";
  CHECK(constant_prediction(texts) == "''");
  texts[1].text = "b";
  CHECK_FALSE(constant_prediction(texts));
  Outcomes losses(3);  // language modelling
  CHECK_FALSE(constant_prediction(losses));
}
