// The numbers of a model as one row, and back.
#include "course/parameter_rows.hpp"

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
