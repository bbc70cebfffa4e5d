#include "report/terminal.h"

#include "report/fixture.h"
#include "support/catch.h"

using namespace headprune;
using namespace headprune::testing;

TEST_CASE("the summary of one seed reads as approved", "[terminal]") {
  CHECK(terminal_summary(one_seed(), {80, false, "runs/toy"}) == "");
}

TEST_CASE("the summary of two seeds reads as approved", "[terminal]") {
  CHECK(terminal_summary(two_seeds(), {100, false, "runs/toy"}) == "");
}
