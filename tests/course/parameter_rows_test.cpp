// The numbers of a model as one row, and back.
#include "course/parameter_rows.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

TEST_CASE("a row has the numbers of all parameters in their order, and becomes them again",
          "[phase8][course]") {
  const Parameters parameters = {{"a", transpose(Tensor({2, 3}, {1, 4, 2, 5, 3, 6}))},
                                 {"none", Tensor::empty({0, 4})},
                                 {"b", Tensor({2}, {7, 8})}};
  const Row row = row_of(parameters);
  // The first one is (3, 2), and a view: the row has its elements row by row.
  CHECK(row == Row{1, 5, 4, 3, 2, 6, 7, 8});
  const std::vector<Tensor> tensors = tensors_of(row, parameters);
  REQUIRE(tensors.size() == 3);
  CHECK(tensors[0].shape() == Shape{3, 2});
  CHECK(tensors[0].values() == std::vector<real>{1, 5, 4, 3, 2, 6});
  CHECK(tensors[1].shape() == Shape{0, 4});
  CHECK(tensors[2].values() == std::vector<real>{7, 8});
  CHECK(row_of(Parameters{}).empty());
  CHECK(tensors_of({}, {}).empty());
  CHECK(complaint([&] { tensors_of({1, 2}, parameters); },
                  {"tensors_of", "one has 2 numbers, the other one 8"}) == "");
}

TEST_CASE("a row of gradients has the order of the tape's tensors", "[phase8][course]") {
  const Tensor a({2}, {1, 2}), b({1}, {3}), unused({2}, {4, 5});
  Tape tape({b, unused, a});
  CHECK(row_of(tape.backward(sum(a * a) + 7 * sum(b))) == Row{7, 0, 0, 2, 4});
}

TEST_CASE("rows differ in so many numbers, and by such a distance", "[phase8][course]") {
  const real nan = std::numeric_limits<real>::quiet_NaN();
  CHECK(different({1, 2, 3}, {1, 2, 3}) == 0);
  CHECK(different({1, 2, 3}, {0, 2, 4}) == 2);
  CHECK(different({nan}, {nan}) == 1);
  CHECK(different({}, {}) == 0);
  CHECK(distance({1, 2, 3}, {1, 5, -1}) == 5);
  CHECK(distance({}, {}) == 0);
  CHECK(complaint([&] { different({1}, {}); }, {"different: one has 1 numbers, the other one 0"}) ==
        "");
  CHECK(complaint([&] { distance({1}, {1, 2, 3}); },
                  {"distance: one has 1 numbers, the other one 3"}) == "");
}

TEST_CASE("the largest difference of two rows, as a part of the second one's largest number",
          "[phase8][course]") {
  CHECK(largest_relative({1, 2, 3}, {1, 2, 3}) == 0);
  CHECK(largest_relative({1, -7, 3}, {1, -8, 3.5}) == 0.125);
  CHECK(largest_relative({4, 0}, {2, 0}) == 1);
  CHECK(std::isnan(largest_relative({}, {})));
  CHECK(complaint([&] { largest_relative({1}, {1, 2}); },
                  {"largest_relative: one has 1 numbers, the other one 2"}) == "");
}

TEST_CASE("the length of a row is added in double", "[phase8][course]") {
  CHECK(length_of({3, 4}) == 5);
  CHECK(length_of({-2}) == 2);
  CHECK(length_of({}) == 0);
  CHECK(length_of({real(1 << 24), 1}) > double(1 << 24));  // by 2^-25
}

TEST_CASE("rows are summed from left to right, or in the fixed tree", "[phase8][course]") {
  const std::vector<Row> rows = {{1, 10}, {2, 20}, {3, 30}};
  CHECK(sum_in_order(rows) == Row{6, 60});
  CHECK(sum_in_tree(rows) == Row{6, 60});
  CHECK(sum_in_order({{5}}) == Row{5});
  CHECK(sum_in_tree({{5}}) == Row{5});
  // In floats of any width 1 + tiny + tiny + tiny is 1, but the tree adds the last two first.
  const real tiny = std::numeric_limits<real>::epsilon() / 2;
  const std::vector<Row> four = {{1}, {tiny}, {tiny}, {tiny}};
  CHECK(sum_in_order(four) == Row{1});
  CHECK(sum_in_tree(four) == Row{1 + 2 * tiny});
  CHECK(complaint([&] { sum_in_order({}); }, {"sum_in_order: there is no row"}) == "");
  CHECK(complaint([&] { sum_in_tree({{1}, {1, 2}}); },
                  {"sum_in_tree: one has 2 numbers, the other one 1"}) == "");
}
