#include "report/text/text_table.h"

#include <limits>

#include "support/catch.h"

using namespace headprune;

TEST_CASE("tables align by displayed width", "[text_table]") {
  CHECK(text_table({{"name", "±"}, {"é", "1.5"}, {"long name", "10"}}, {80, 1, 1, 0, 1}) ==
        " name         ±\n é          1.5\n long name   10\n");
}

TEST_CASE("a table too wide is printed in parts that repeat its ends", "[text_table]") {
  const TextRows rows = {{"k", "aaaa", "bbbb", "cccc", "z"}, {"1", "2", "3", "4", "5"}};
  CHECK(text_table(rows, {18, 0, 1, 1, 1}) == "k  aaaa  bbbb  z\n1     2     3  5\n\nk  cccc  z\n1     4  5\n");
}

TEST_CASE("numbers for people", "[text_table]") {
  CHECK(value_text(0.78143) == "0.781");
  CHECK(value_text(-0.0) == "0.000");
  CHECK(value_text(0.0000131) == "1.3e-05");
  CHECK(value_text(123.456) == "123.5");
  CHECK(value_text(1234567.0) == "1.235e+06");
  CHECK(value_text(std::numeric_limits<double>::quiet_NaN()) == "nan");
  CHECK(value_text(-std::numeric_limits<double>::infinity()) == "-inf");
  CHECK(change_text(0.0123) == "+0.012");
  CHECK(change_text(-0.0001) == "0.000");
  CHECK(change_text(-0.5) == "-0.500");
  CHECK(interval_text(0.5, 0.4, 0.6) == "0.500 [0.400, 0.600]");
  CHECK(count_text(1, "head") == "1 head");
  CHECK(count_text(0, "head") == "0 heads");
}

TEST_CASE("text wraps at spaces and indents what follows", "[text_table]") {
  CHECK(wrapped("one two three four", 12, 2) == "  one two\n    three\n    four\n");
  CHECK(wrapped("unbreakablelongword", 5, 0) == "unbreakablelongword\n");
}

TEST_CASE("nothing is coloured without colour", "[text_table]") {
  CHECK(coloured("x", "1", false) == "x");
  CHECK(coloured("x", "1", true) == "\x1b[1mx\x1b[0m");
}
