// Running sums along one axis.
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

std::string wrong_sums(const Tensor& x, int axis) {
  const auto at_axis = static_cast<std::size_t>(axis < 0 ? axis + x.ndim() : axis);
  return difference(cumsum(x, axis), x.shape(), tabulate(x.shape(), [&](const Place& place) {
                      Place at = place;
                      double sum = 0;
                      for (at[at_axis] = 0; at[at_axis] <= place[at_axis]; ++at[at_axis]) {
                        sum += element(x, at);
                      }
                      return sum;
                    }));
}

}  // namespace

TEST_CASE("cumsum adds up along any axis", "[phase0][ops]") {
  const Tensor x = random_tensor({4, 5, 6});
  for (const int axis : {0, 1, 2, -1, -3}) {
    CAPTURE(axis);
    CHECK(wrong_sums(x, axis) == "");
    CHECK(wrong_sums(transpose(x), axis) == "");
    CHECK(wrong_sums(slice(x, 1, 0, 5, 2), axis) == "");
  }
  CHECK(wrong_sums(random_tensor({3, 5, 1100}), 1) == "");  // more columns than go together
  for (const Shape& shape : {Shape{1}, Shape{0}, Shape{0, 3}, Shape{3, 0}, Shape{1000}}) {
    CHECK(wrong_sums(random_tensor(shape), 0) == "");
  }
  CHECK(complaint([] { cumsum(Tensor(1), 0); }, {"cumsum: axis 0"}) == "");
}

TEST_CASE("cumsum keeps its digits, and passes on what is no number", "[phase0][ops]") {
  const Tensor tenths = Tensor::full({100000}, 0.1);  // sums of floats alone would be off by 0.2
  CHECK(std::abs(double{cumsum(tenths, 0).at({99999})} - double{real(0.1)} * 100000) < 1e-3);
  const Tensor x({5}, {1, infinity, 2, -infinity, 3});
  CHECK(difference(cumsum(x, 0), {5}, {1, infinity, infinity, NAN, NAN}) == "");
}

TEST_CASE("the gradient of cumsum adds up from the other end", "[phase0][ops]") {
  const Tensor x = random_tensor({3, 4, 2});
  for (const int axis : {0, 1, 2}) {
    CHECK(wrong_gradient(
              [axis](const std::vector<Tensor>& in) { return cumsum(transpose(in[0]), axis); },
              {x}) == "");
  }
  CHECK(difference(slope([](const Tensor& in) { return cumsum(in, 0); }, Tensor::zeros({4})), {4},
                   {4, 3, 2, 1}) == "");
}
