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

TEST_CASE("a fraction may go where it and every smaller one stay within the drop", "[stats]") {
  const std::vector<DropBound> points = {{0.1, 0.005}, {0.2, 0.018}, {0.3, 0.04}, {0.4, 0.01}, {0.5, 0.3}};
  CHECK(last_within(points, 0.02).value() == 1);  // not 0.4, which the curve comes back to
  CHECK(last_within(points, 0.05).value() == 3);
  CHECK(last_within(points, 1).value() == 4);
  CHECK_FALSE(last_within(points, 0.001));
  CHECK_FALSE(last_within({{0.1, NAN}}, 0.5));
  CHECK_FALSE(last_within({}, 0.5));
  CHECK(last_within({{0.25, 0.81 - 0.79}}, 0.02).value() == 0);  // a little more than 0.02 in binary
  CHECK_THROWS_AS(last_within({{0.2, 0}, {0.1, 0}}, 1), std::invalid_argument);
}
