#include "report/text/csv.h"

#include <limits>

#include "support/catch.h"

using namespace headprune;

TEST_CASE("fields are quoted where RFC 4180 asks for it and nowhere else", "[csv]") {
  CHECK(csv_text({"a", "b"}, {{"x,y", "say \"no\""}, {"plain text", "two\nlines"}}) ==
        "a,b\nplain text,\"two\nlines\"\n\"x,y\",\"say \"\"no\"\"\"\n");
}

TEST_CASE("rows sort from the left: empty, then numbers by value, then text", "[csv]") {
  const std::vector<CsvRow> rows = {{"b", int64_t{1}}, {int64_t{10}, "x"}, {int64_t{9}, "x"}, {Cell(), "x"},
                                    {"a", 2.5},        {"a", int64_t{-1}}, {9.0, "w"}};
  CHECK(csv_text({"k", "v"}, rows) == "k,v\n,x\n9.0,w\n9,x\n10,x\na,-1\na,2.5\nb,1\n");
}

TEST_CASE("numbers print with the shortest digits that read back", "[csv]") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(csv_text({"v"}, {{0.1}, {0.7814387699066447}, {-infinity}, {infinity}}) ==
        "v\n-inf\n0.1\n0.7814387699066447\ninf\n");
  CHECK(Cell(std::numeric_limits<double>::quiet_NaN()).text() == "nan");
  CHECK(std::stod(Cell(0.1 + 0.2).text()) == 0.1 + 0.2);
  CHECK(Cell(std::optional<double>()).text().empty());
}
