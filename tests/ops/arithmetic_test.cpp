// a + b, a - b, a * b, a / b, -x and pow, with broadcasting.
#include <cmath>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

struct Binary {
  const char* name;
  Tensor (*f)(const Tensor&, const Tensor&);
  double (*reference)(double, double);
};

const std::vector<Binary> operations = {
    {"add", operator+, [](double a, double b) { return a + b; }},
    {"subtract", operator-, [](double a, double b) { return a - b; }},
    {"multiply", operator*, [](double a, double b) { return a * b; }},
    {"divide", operator/, [](double a, double b) { return a / b; }},
    {"pow", pow, [](double a, double b) { return std::pow(a, b); }},
};

const std::vector<std::pair<Shape, Shape>> shapes = {
    {{2, 3}, {2, 3}},
    {{2, 3}, {3}},
    {{3}, {2, 3}},
    {{2, 1}, {1, 3}},
    {{}, {4}},
    {{4}, {}},
    {{}, {}},
    {{1}, {1, 1, 1}},
    {{4, 1, 3}, {5, 1}},
    {{2, 3, 1, 5}, {4, 5}},
    {{37}, {37}},
    {{3, 41}, {41}},
    {{0}, {0}},
    {{0, 3}, {3}},
    {{1}, {0}},
    {{2, 0, 3}, {2, 1, 1}},
    {{7, 1}, {1}},
    {{1, 2, 1, 2, 1, 2}, {2, 1, 2, 1, 2, 1}},
};

// y must hold reference(a, b) at every place of the broadcast shape.
std::string wrong_values(const Binary& operation, const Tensor& a, const Tensor& b) {
  const Tensor y = operation.f(a, b);
  const Shape shape = broadcast_shapes("test", a.shape(), b.shape());
  return difference(y, shape, tabulate(shape, [&](const Place& place) {
                      return operation.reference(element(a, place), element(b, place));
                    }));
}

std::string wrong_gradient_of(const Binary& operation, const Tensor& a, const Tensor& b) {
  return wrong_gradient([&](const std::vector<Tensor>& x) { return operation.f(x[0], x[1]); },
                        {a, b});
}

}  // namespace

TEST_CASE("arithmetic broadcasts, and so do its gradients", "[phase0][ops]") {
  for (const Binary& operation : operations) {
    for (const auto& [first, second] : shapes) {
      CAPTURE(operation.name, to_string(first), to_string(second));
      const Tensor a = random_between(first, 0.5, 2, 1), b = random_between(second, 0.5, 2, 2);
      CHECK(wrong_values(operation, a, b) == "");
      CHECK(wrong_gradient_of(operation, a, b) == "");
    }
  }
}

TEST_CASE("arithmetic reads transposed, sliced and expanded operands in place", "[phase0][ops]") {
  const Tensor x = random_between({5, 6}, 0.5, 2, 1), z = random_between({6, 5}, 0.5, 2, 2);
  const Tensor other = random_between({5, 6}, 0.5, 2, 4), row = random_between({1, 6}, 0.5, 2, 3);
  for (const Binary& operation : operations) {
    CAPTURE(operation.name);
    CHECK(wrong_values(operation, x, transpose(z)) == "");
    CHECK(wrong_values(operation, transpose(x), z) == "");
    CHECK(wrong_values(operation, transpose(x), transpose(other)) == "");
    CHECK(wrong_values(operation, slice(x, 1, 1, 6, 2), slice(x, 1, 0, 5, 2)) == "");
    CHECK(wrong_values(operation, slice(x, 0, 2, 3), transpose(slice(z, 1, 0, 1))) == "");
    CHECK(wrong_values(operation, expand(row, {5, 6}), x) == "");
    CHECK(wrong_gradient(
              [&](const std::vector<Tensor>& in) {
                return operation.f(slice(transpose(in[0]), 0, 0, 6, 2), slice(in[1], 0, 1, 6, 2));
              },
              {x, z}) == "");
  }
}

TEST_CASE("one tensor may be both operands", "[phase0][ops]") {
  const Tensor x({3}, {0.5, 1.5, 3});
  CHECK(difference(slope([](const Tensor& t) { return t + t; }, x), {3}, {2, 2, 2}) == "");
  CHECK(difference(slope([](const Tensor& t) { return t - t; }, x), {3}, {0, 0, 0}) == "");
  CHECK(difference(slope([](const Tensor& t) { return t * t; }, x), {3}, {1, 3, 6}) == "");
  CHECK(difference(slope([](const Tensor& t) { return t / t; }, x), {3}, {0, 0, 0}) == "");
  CHECK(wrong_gradient([](const std::vector<Tensor>& t) { return pow(t[0], t[0]); }, {x}) == "");
}

TEST_CASE("plain numbers take part", "[phase0][ops]") {
  const Tensor x({2}, {1, 4});
  CHECK(difference(2 * x + 1, {2}, {3, 9}) == "");
  CHECK(difference(1 - x / 2, {2}, {0.5, -1}) == "");
  CHECK(difference(1 / x, {2}, {1, 0.25}) == "");
  CHECK(difference(pow(x, 0.5), {2}, {1, 2}) == "");
  CHECK(difference(slope([](const Tensor& t) { return 3 / t; }, x), {2}, {-3, -3.0 / 16}) == "");
}

TEST_CASE("minus turns every sign", "[phase0][ops]") {
  const Tensor x = random_tensor({3, 13});
  CHECK(difference(-transpose(x), {13, 3}, tabulate({13, 3}, [&](const Place& place) {
          return -element(transpose(x), place);
        })) == "");
  CHECK((-Tensor::zeros({0, 2})).shape() == Shape{0, 2});
  CHECK(difference(-Tensor({3}, {NAN, infinity, -infinity}), {3}, {NAN, -infinity, infinity}) ==
        "");
  CHECK(wrong_gradient([](const std::vector<Tensor>& t) { return -t[0]; }, {x}) == "");
}

TEST_CASE("arithmetic follows IEEE 754 for NaN, infinities and division by 0", "[phase0][ops]") {
  const std::vector<double> special = {NAN, infinity, -infinity, 0, 1, -2};
  for (const Binary& operation : operations) {
    for (const double a : special) {
      for (const double b : special) {
        CAPTURE(operation.name, a, b);
        const Tensor many_a = Tensor::full({11}, a), many_b = Tensor::full({11}, b);
        const std::vector<double> expected(11, operation.reference(a, b));
        CHECK(difference(operation.f(many_a, many_b), {11}, expected) == "");
      }
    }
  }
}

TEST_CASE("pow takes whole powers of negative numbers", "[phase0][ops]") {
  CHECK(difference(pow(Tensor({4}, {-2, -2, -2, -1}), Tensor({4}, {3, 2, -1, 0.5})), {4},
                   {-8, 4, -0.5, NAN}) == "");
  CHECK(wrong_gradient([](const std::vector<Tensor>& x) { return pow(x[0], 3); },
                       {Tensor({3}, {-1.5, -0.5, 2})}) == "");
}

TEST_CASE("the gradient of pow at the border of its domain", "[phase0][ops]") {
  const Tensor a({6}, {0, 0, 0, 2, -2, 0}), b({6}, {2, 1, 0, 0, 3, 0.5});
  Tape tape({a, b});
  const Tensor y = pow(a, b);
  const Gradients gradients = tape.backward(y, Tensor::ones({6}));
  CHECK(difference(gradients[a], {6}, {0, 1, 0, 0, 12, infinity}) == "");
  CHECK(difference(gradients[b], {6}, {0, 0, 0, std::log(2.0), NAN, 0}) == "");
}

TEST_CASE("operands that do not fit are named with the operation", "[phase0][ops]") {
  const Tensor a = Tensor::zeros({2, 3}), b = Tensor::zeros({4, 3});
  for (const Binary& operation : operations) {
    CHECK(complaint([&] { operation.f(a, b); },
                    {operation.name, "a is (2, 3)", "b is (4, 3)", "axis -2", "2 and 4"}) == "");
  }
}

TEST_CASE("atan2 gives the angle of a point, in every quadrant", "[phase0][ops]") {
  const Tensor y = random_tensor({5, 7}, 1), x = random_tensor({7}, 2);
  CHECK(difference(atan2(y, x), {5, 7}, tabulate({5, 7}, [&](const Place& place) {
                     return std::atan2(element(y, place), element(x, place));
                   })) == "");
  const Tensor ys({6}, {0, 0, 1, -1, infinity, NAN}), xs({6}, {1, -1, 0, 0, infinity, 1});
  const double pi = std::acos(-1.0);
  CHECK(difference(atan2(ys, xs), {6}, {0, pi, pi / 2, -pi / 2, pi / 4, NAN}) == "");
  const Function f = [](const std::vector<Tensor>& in) { return atan2(in[0], in[1]); };
  CHECK(wrong_gradient(f, {y, x}) == "");
  CHECK(wrong_gradient(f, {transpose(y), random_tensor({7, 1}, 3)}) == "");
  const auto by_y = [](const Tensor& in) { return atan2(in, Tensor::zeros({1})); };
  CHECK(difference(slope(by_y, Tensor::zeros({1})), {1}, {NAN}) == "");  // no angle, as in PyTorch
  CHECK(atan2(Tensor::zeros({0, 2}), Tensor::zeros({2})).shape() == Shape{0, 2});
}
