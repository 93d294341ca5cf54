#include "tapestry/plot/ascii.hpp"

#include <cmath>
#include <limits>
#include <sstream>

#include "catch.hpp"
#include "plot/decoded.hpp"
#include "plot/utf8.hpp"

namespace tapestry::plot {
namespace {

using Labels = std::vector<std::string>;

TEST_CASE("a matrix is printed with its words", "[phase0][plot]") {
  const std::vector<double> values{0.211, 0.5, 0.289, 1, -0.25, 0};
  CHECK(matrix_with_words(values, {"the", "on"}, {"the", "cat", "sat"}) ==
        "       the    cat    sat\n"
        "the   0.21   0.50   0.29\n"
        " on   1.00  −0.25   0.00\n");
}

TEST_CASE("a table that just fits is shown whole", "[phase0][plot]") {
  const auto cut = [](int width) {
    const std::vector<double> values{1, 2, 3};
    return contains(matrix_with_words(values, {"the"}, {"a", "b", "c"}, 2, width), "…");
  };
  CHECK_FALSE(cut(3 + 3 * 6));
  CHECK(cut(3 + 3 * 6 - 1));
}

TEST_CASE("of a table that is too wide, as many columns are shown as fit, but one at least",
          "[phase0][plot]") {
  const auto table = [](int width) {
    return matrix_with_words(std::vector<double>{1, 2, 3}, {"the"}, {"a", "b", "c"}, 2, width);
  };
  CHECK(table(3 + 3 * 6) ==
        "        a     b     c\n"
        "the  1.00  2.00  3.00\n");
  CHECK(table(3 + 2 * 6 + 3) ==
        "        a     b  …\n"
        "the  1.00  2.00  …\n"
        "(shown: 1 of 1 rows, 2 of 3 columns)\n");
  for (const int width : {3 + 2 * 6 + 2, 3 + 6 + 3, 1}) {
    CHECK(table(width) ==
          "        a  …\n"
          "the  1.00  …\n"
          "(shown: 1 of 1 rows, 1 of 3 columns)\n");
  }
}

TEST_CASE("a label is cut after ten columns", "[phase0][plot]") {
  CHECK(matrix_with_words(std::vector<double>{1.5}, {"abcdefghijk"}, {"bcdefghijkl"}, 1) ==
        "            bcdefghij…\n"
        "abcdefghi…         1.5\n");
}

TEST_CASE("columns are as wide as what is shown of them", "[phase0][plot]") {
  CHECK(matrix_with_words(std::vector<double>{-100, 2, 3, 4}, {"a", "b"}, {"c", "d"}, 0) ==
        "      c     d\n"
        "a  −100     2\n"
        "b     3     4\n");
  CHECK(matrix_with_words(std::vector<double>{1}, {""}, {"b"}, 0) == "  b\n  1\n");
  std::vector<double> values(33, 1);
  values[32] = -1000;  // the row that is left out
  CHECK(matrix_with_words(values, Labels(33, "a"), {"b"}, 0).starts_with("   b\na  1\na  1\n"));
}

TEST_CASE("special values and digits are printed as asked", "[phase0][plot]") {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> values{std::nan(""), -infinity, 1.25};
  CHECK(matrix_with_words(values, {"q"}, {"a", "b", "c"}, 1) ==
        "     a    b    c\n"
        "q  NaN   −∞  1.2\n");
}

TEST_CASE("a mask is printed as checks and crosses", "[phase0][plot]") {
  CHECK(check_table({true, false, true, true}, {"the", "cat"}, {"the", "cat"}) ==
        "    the  cat\n"
        "the  ✓    ✗\n"
        "cat  ✓    ✓\n");
  CHECK(check_table({true, false}, {"a"}, {"four", "b"}) ==
        "  four    b\n"
        "a   ✓     ✗\n");
}

TEST_CASE("tables fit the terminal and say what is left out", "[phase0][plot]") {
  const Labels rows(50, "a-very-long-token-indeed"), columns(40, "wörter");
  const std::vector<double> values(2000, 0.125);
  for (const int width : {24, 60, 80}) {
    const std::string text = matrix_with_words(values, rows, columns, 2, width);
    std::istringstream lines(text);
    std::string line, last;
    int count = 0;
    while (std::getline(lines, line)) {
      if (line[0] != '(') CHECK(display_width(line) <= width);
      last = line;
      ++count;
    }
    CHECK(count == 34);
    CHECK(contains(last, "32 of 50 rows"));
    CHECK(contains(last, "of 40 columns"));
  }
  CHECK(contains(check_table(std::vector<bool>(2000, true), rows, columns), "of 40 columns"));
}

TEST_CASE("white space in tokens is made visible", "[phase0][plot]") {
  CHECK(visible(" the") == "␣the");
  CHECK(visible("a b") == "a b");
  CHECK(visible("\n") == "↵");
  CHECK(visible(" ") == "␣");
  CHECK(visible("\t\x01") == "⇥·");
  CHECK(visible("") == "");
}

TEST_CASE("tables say when labels and values disagree", "[phase0][plot]") {
  const std::vector<double> values{1, 2, 3};
  CHECK(contains(words_of_error([&] { matrix_with_words(values, {"a"}, {"b", "c"}); }),
                 "1 row labels x 2 column labels need 2 values, but 3 were given"));
  CHECK(contains(words_of_error([&] { matrix_with_words({}, {}, {}); }), "nothing to show"));
  CHECK(contains(words_of_error([&] { check_table({true}, {"a"}, {}); }), "check_table"));
}

}  // namespace
}  // namespace tapestry::plot
