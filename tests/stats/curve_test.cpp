#include "stats/curve.h"

#include <cmath>

#include "core/error.h"
#include "support/catch.h"

using namespace headprune;

TEST_CASE("the area of a curve is its mean height", "[stats]") {
  CHECK(curve_area({{0, 0.9}, {1, 0.9}}).value() == Approx(0.9));
  // By hand: 0.25 (0.9 + 0.8) / 2 + 0.75 (0.8 + 0.5) / 2 = 0.7.
  CHECK(curve_area({{0, 0.9}, {0.25, 0.8}, {1, 0.5}}).value() == Approx(0.7));
  CHECK(curve_area({{0.5, 1}, {0.75, 0}}).value() == Approx(0.5));
  CHECK_FALSE(curve_area({{0, 1}}));
  CHECK_FALSE(curve_area({{0, 1}, {1, NAN}}));
  CHECK_THROWS_AS(curve_area({{0, 1}, {0, 2}}), std::invalid_argument);
}

TEST_CASE("areas are compared over the same range only", "[stats]") {
  const Curve curve = {{0, 0.9}, {0.25, 0.8}, {1, 0.5}}, band = {{0, 0.9}, {1, 0.5}};
  CHECK(curve_area_minus(curve, band).value() == Approx(0.0).margin(1e-12));
  CHECK(curve_area_minus({{0, 0.9}, {0.5, 0.9}, {1, 0.5}}, band).value() == Approx(0.1));
  try {
    curve_area_minus(curve, {{0, 0.9}, {0.75, 0.5}});
    FAIL("no error");
  } catch (const Error& error) {
    CHECK_THAT(error.what(), ContainsSubstring("0.75"));
  }
}

TEST_CASE("the largest fraction within a drop is found for either direction", "[stats]") {
  const Curve accuracy = {{0, 0.81}, {0.25, 0.79}, {0.5, 0.7}, {0.75, 0.5}};
  CHECK(largest_fraction_within(accuracy, 0.81, 0.02, /*higher_is_better=*/true).value() == 0.25);
  CHECK(largest_fraction_within(accuracy, 0.81, 0.2, /*higher_is_better=*/true).value() == 0.5);
  CHECK_FALSE(largest_fraction_within(accuracy, 0.9, 0.02, /*higher_is_better=*/true));
  const Curve loss = {{0, 0.5}, {0.25, 0.45}, {0.5, 0.9}};
  CHECK(largest_fraction_within(loss, 0.5, 0.1, /*higher_is_better=*/false).value() == 0.25);
  CHECK_FALSE(largest_fraction_within({{0, NAN}}, 0.5, 0.1, /*higher_is_better=*/false));
}
