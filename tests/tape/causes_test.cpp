// Where the first number on a tape that is not finite comes from.
#include <cmath>
#include <functional>
#include <limits>

#include "catch.hpp"
#include "kernels/functions.hpp"
#include "ops/expect.hpp"
#include "tape/made_from.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape_steps.hpp"

using namespace tapestry;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

using Causes = std::vector<TapeSteps::Cause>;

Causes causes(const TapeSteps& steps) { return steps.non_finite.value().causes; }

}  // namespace

TEST_CASE("the NaN of a naive softmax leads to the masked row", "[phase2][tape]") {
  const Tensor s({2, 3}, {1, -0.5, 0.5, 2, 0, 1}), mask({2, 3}, {0, 0, -inf, -inf, -inf, -inf});
  Tape tape(Parameters{{"s", s}}, Tape::Keep::values);
  const Tensor masked = s + mask, highest = max(masked, -1, true), shifted = masked - highest;
  const Tensor up = exp(shifted);
  tape.label(masked, "masked");
  tape.label(highest, "highest");
  tape.label(shifted, "shifted");
  const TapeSteps steps = tape_steps(tape);
  REQUIRE(steps.non_finite);
  CHECK(steps.non_finite->record == 3);
  CHECK(!steps.non_finite->in_gradient);
  CHECK(steps.non_finite->text == tape.first_non_finite());
  const Causes found = causes(steps);
  REQUIRE(found.size() == 3);
  CHECK(found[0].record == 3);
  CHECK(found[0].place == std::vector<Index>{1, 0});
  for (const TapeSteps::Cause& one : found) CHECK(!one.in_gradient);
  CHECK(std::isnan(found[0].value));
  CHECK(found[0].why == "-inf - -inf is NaN, of masked [1, 0] and highest [1, 0]");
  CHECK(found[1].record == 2);
  CHECK(found[1].place == std::vector<Index>{1, 0});
  CHECK(found[1].why == "max is -inf, of 3 numbers of masked, all of them -inf");
  CHECK(found[2].record == 1);
  CHECK(found[2].place == std::vector<Index>{1, 0});
  CHECK(found[2].value == -inf);
  CHECK(found[2].why == "2 + ? is -inf, of s [1, 0] and a number that is not on the tape");
}

TEST_CASE("one number of each operand is named with its value", "[phase2][tape]") {
  const bool wide = sizeof(real) == 8;
  const double large = wide ? 1e200 : 1e30;
  const Tensor x({1, 1}, {large}), y({1, 1}, {2 * large});
  Tape tape(Parameters{{"x", x}, {"y", y}}, Tape::Keep::values);
  const Tensor product = matmul(x, y);
  const Causes found = causes(tape_steps(tape));
  REQUIRE(!found.empty());
  CHECK(found[0].why ==
        (wide ? "matmul is inf, of x [0, 0], which is 1e+200 and y [0, 0], which is 2e+200"
              : "matmul is inf, of x [0, 0], which is 1e+30 and y [0, 0], which is 2e+30"));
}

TEST_CASE("an overflow leads to the number that was too large", "[phase2][tape]") {
  const Tensor s({3}, {1, 1000, 2});
  Tape tape({s}, Tape::Keep::values);
  const Tensor up = exp(s), weights = up / sum(up);
  tape.label(s, "s");
  const Causes found = causes(tape_steps(tape));
  REQUIRE(found.size() == 1);
  CHECK(found[0].place == std::vector<Index>{1});
  CHECK(found[0].value == inf);
  CHECK(found[0].why == "exp(1000) is inf, of s [1]");
}

TEST_CASE("a number that was given is its own cause", "[phase2][tape]") {
  const Tensor x({2}, {1, NAN});
  Tape tape({x}, Tape::Keep::values);
  const Tensor y = x * 2;
  const Causes found = causes(tape_steps(tape));
  REQUIRE(found.size() == 1);
  CHECK(found[0].record == 0);
  CHECK(found[0].place == std::vector<Index>{1});
  CHECK(found[0].why == "it was given so");
}

namespace {

// The chain from y, of which every link is told, as one text.
std::string told(const Parameters& watched, const std::function<Tensor()>& make) {
  Tape tape(watched, Tape::Keep::values);
  const Tensor y = make();
  std::string text;
  for (const TapeSteps::Cause& one : causes(tape_steps(tape))) {
    text += (text.empty() ? "" : "; ") + one.why;
  }
  return text;
}

}  // namespace

TEST_CASE("each kind of operation names what it was made from", "[phase2][tape]") {
  const Tensor a({2, 2}, {1, 0, 3, 4}), b({2}, {2, 0});
  const Parameters both = {{"a", a}, {"b", b}};
  CHECK(told(both, [&] { return a / b; }) == "0 / 0 is NaN, of a [0, 1] and b [1]");
  CHECK(told({{"b", b}}, [&] { return a / b; }) ==
        "divide(0, ?) is NaN, of b [1] and a number that is not on the tape");
  CHECK(told({{"b", b}}, [&] {
          const Tensor one = b - 2, other = b - 2;
          return one / other;
        }) == "0 / 0 is NaN, of subtract (record 1) [0] and subtract (record 2) [0]");
  CHECK(told({{"b", b}}, [&] { return pow(b - 2, 0.5); }) ==
        "pow(-2, ?) is NaN, of subtract (record 1) [1] and a number that is not on the tape");
  CHECK(told({{"a", a}}, [&] { return (a + 1) * Tensor(inf); }) ==
        "2 * ? is inf, of add (record 1) [0, 0] and a number that is not on the tape");
  CHECK(told({{"a", a}}, [&] { return log(a - 3); }) ==
        "log(-2) is NaN, of subtract (record 1) [0, 0]");
  CHECK(told({{"b", b}}, [&] { return log(reshape(b, {2, 1}) * b); }) ==
        "log(0) is -inf, of multiply (record 2) [0, 1]");
}

TEST_CASE("a function of each element is made from the same place", "[phase2][tape]") {
  kernels::UnaryFunctions::each([](auto f) {
    CAPTURE(decltype(f)::name);
    CHECK(is_of_same_place(decltype(f)::name));
    CHECK(!is_of_two(decltype(f)::name));
  });
  for (const char* name : {"clamp", "expand", "where"}) CHECK(is_of_same_place(name));
  for (const char* name : {"softmax", "sum", "matmul", "sinus", ""}) CHECK(!is_of_same_place(name));
}

TEST_CASE("of a reduction the axes that were reduced are named", "[phase2][tape]") {
  const Tensor x({2, 2}, {-inf, -inf, 1, 2}), ones = Tensor::ones({2, 2});
  const Parameters watched = {{"x", ones}};
  const auto masked = [&] { return where(x < 0, Tensor(-inf), ones); };
  CHECK(told(watched,
             [&] {
               const Tensor left = masked(), right = max(masked(), 1, true);
               return left - right;
             }) ==
        "-inf - -inf is NaN, of where (record 1) [0, 0] and max (record 3) [0, 0]; "
        "max is -inf, of 2 numbers of where (record 2), all of them -inf; "
        "where(1, ?) is -inf, of x [0, 0] and a number that is not on the tape");
  const double huge = 0.6 * double{std::numeric_limits<real>::max()};
  const Tensor large({2, 2}, {1, huge, 2, huge});
  CHECK(told({{"x", large}}, [&] { return sum(large, 0); }) ==
        "sum is inf, of 2 numbers of x, all of them finite");
  CHECK(told({{"x", large}}, [&] { return mean(large, Axes{0, 1}); }) ==
        "mean is inf, of 4 numbers of x, all of them finite");
  CHECK(told({{"x", large}}, [&] { return prod(large, -1, true); }) ==
        "prod is inf, of 2 numbers of x, all of them finite");
}

TEST_CASE("extremes tell which axis was reduced", "[phase2][tape]") {
  const Tensor x = Tensor::ones({2, 2}), mask({2, 2}, {1, 0, 1, 0});
  CHECK(told({{"x", x}},
             [&] {
               const Tensor y = where(mask, -inf, x), most = max(y, 0);
               return most - most;
             })
            .find("max is -inf, of 2 numbers of where (record 1), all of them -inf") !=
        std::string::npos);
  CHECK(told({{"x", x}},
             [&] {
               const Tensor y = where(mask, inf, x), least = min(y, 0);
               return least - least;
             })
            .find("min is inf, of 2 numbers of where (record 1), all of them inf") !=
        std::string::npos);
}

TEST_CASE("where several axes could have been reduced, the last ones are named", "[phase2][tape]") {
  const Tensor x = Tensor::ones({2, 2}), mask({2, 2}, {1, 0, 1, 0});
  CHECK(told({{"x", x}},
             [&] {
               const Tensor y = where(mask, inf, x), total = sum(y, 1);
               return total - total;
             })
            .starts_with("inf - inf is NaN, of sum (record 2) [0]; "
                         "sum is inf, of 2 numbers of where (record 1), 1 of them inf; "));
  CHECK(told({{"x", x}},
             [&] {
               const Tensor y = where(mask, -inf, x), least = min(y, 1);
               return least - least;
             })
            .starts_with("-inf - -inf is NaN, of min (record 2) [0]; "
                         "min is -inf, of 2 numbers of where (record 1), 1 of them -inf; "));
}

TEST_CASE("an operation of many numbers says how many are not finite", "[phase2][tape]") {
  const Tensor mask({2, 2}, {0, -inf, 0, 0}), ones = Tensor::ones({2, 2});
  CHECK(told({{"x", ones}}, [&] { return matmul(ones + mask, Tensor({2, 1}, {1, 0})); }) ==
        "matmul is NaN, of 4 numbers of add (record 1), 1 of them -inf; "
        "1 + ? is -inf, of x [0, 1] and a number that is not on the tape");
}

TEST_CASE("a gradient that is not finite leads to the slope", "[phase2][tape]") {
  const Tensor x({2}, {0, 4});
  Tape tape({x}, Tape::Keep::values);
  const Tensor y = x * 1, root = sqrt(y), loss = sum(where(y, root, 0));
  tape.label(y, "y");
  tape.label(root, "root");
  (void)tape.backward(loss);
  const TapeSteps steps = tape_steps(tape);
  REQUIRE(steps.non_finite);
  CHECK(steps.non_finite->in_gradient);
  CHECK(steps.non_finite->record == 1);
  const Causes found = causes(steps);
  REQUIRE(found.size() == 2);
  CHECK(found[0].in_gradient);
  CHECK(found[0].record == 1);
  CHECK(found[0].place == std::vector<Index>{0});
  CHECK(found[0].why == "the backward pass of root adds NaN to it");
  CHECK(found[1].in_gradient);
  CHECK(found[1].record == 2);
  CHECK(found[1].value == 0);
  CHECK(found[1].why ==
        "its gradient is finite, so it is the slope of sqrt that is not, where y is 0 and root is "
        "0");
}

TEST_CASE("a gradient to which only finite parts were added has no other cause", "[phase2][tape]") {
  const double huge = 0.6 * double{std::numeric_limits<real>::max()};
  const Tensor x({3}, {1, 0.5, 3}), c({3}, {1, huge, 1});
  Tape tape({x}, Tape::Keep::values);
  const Gradients gradients = tape.backward(x * c + x * c, Tensor({3}, {1, 1, 1}));
  CHECK(std::isinf(double{gradients[x].at({1})}));
  const TapeSteps steps = tape_steps(tape);
  REQUIRE(steps.non_finite);
  CHECK(steps.non_finite->in_gradient);
  const Causes found = causes(steps);
  REQUIRE(found.size() == 1);
  CHECK(found[0].in_gradient);
  CHECK(found[0].record == 0);
  CHECK(found[0].place == std::vector<Index>{1});
  CHECK(found[0].why == "finite contributions add up to it, or it was the seed");
}

TEST_CASE("a slope is told with what the record was made from and what it made", "[phase2][tape]") {
  const Tensor x({2}, {3, 4});
  Tape tape({x}, Tape::Keep::values);
  const Tensor y = x + 2;
  const Tensor steep = Tape::record(
      "steep", {y}, y.detach() + 2,
      [](const Tensor& dy, GradientSink& to) { to.accumulate(0, dy * Tensor({2}, {1, inf})); });
  (void)tape.backward(sum(steep));
  const Causes found = causes(tape_steps(tape));
  REQUIRE(found.size() == 2);
  CHECK(found[0].why == "the backward pass of steep (record 2) adds inf to it");
  CHECK(found[1].why ==
        "its gradient is finite, so it is the slope of steep that is not, where add (record 1) is "
        "6 and steep (record 2) is 8");
}

TEST_CASE("of a record of another shape no element is named", "[phase2][tape]") {
  const double huge = 0.6 * double{std::numeric_limits<real>::max()};
  const Tensor x({2}, {1, 2});
  Tape tape({x}, Tape::Keep::values);
  const Tensor aside = x + Tensor::zeros({2, 2}), y = x * 1;  // shaped like the next, and not
  const Tensor wide = y * Tensor({2, 2}, {huge, 0, huge, 0});
  (void)tape.backward(wide, Tensor::ones({2, 2}));
  const Causes found = causes(tape_steps(tape));
  REQUIRE(found.size() == 1);
  CHECK(found[0].record == 2);
  CHECK(found[0].why == "the backward pass of multiply (record 3) adds inf to it");
  CHECK(aside.defined());
}

TEST_CASE("what has no numbers is not told of", "[phase2][tape]") {
  const Tensor x = Tensor::ones({2}), none = Tensor::zeros({0}), mask({2}, {1, 0});
  CHECK(told({{"x", x}, {"none", none}},
             [&] {
               const Tensor y = concat({where(mask, -inf, x), none}, 0);
               return y - y;
             })
            .find("; concat is -inf, of 2 numbers of where (record 2), 1 of them -inf; ") !=
        std::string::npos);
}
