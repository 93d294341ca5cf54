// gradcheck: right gradients pass, wrong ones are caught and the culprit is named.
#include "tapestry/gradcheck.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

// x -> 2 x, whose backward function gives what `spoil` makes of the right gradient.
Tensor doubled(const Tensor& x, const std::function<Tensor(const Tensor&)>& spoil) {
  const Tensor y = x.detach() * 2;
  return Tape::record("doubled", {x}, y, [spoil](const Tensor& dy, GradientSink& to) {
    to.accumulate(0, spoil(2 * dy));
  });
}

GradcheckResult check_spoiled(const Tensor& x, const std::function<Tensor(const Tensor&)>& spoil) {
  return gradcheck([&](const std::vector<Tensor>& in) { return doubled(in[0], spoil); }, {x});
}

}  // namespace

TEST_CASE("right gradients pass, of several inputs and any shape of output",
          "[phase0][gradcheck]") {
  const Tensor a = random_tensor({3, 4}, 1), b = random_tensor({4}, 2), c(0.5);
  const Function f = [](const std::vector<Tensor>& x) { return sin(x[0]) * x[1] + exp(x[2]); };
  const GradcheckResult result = gradcheck(f, {a, b, c});
  CHECK(result.passed);
  CHECK(static_cast<bool>(result));
  CHECK(result.message.empty());
  CHECK(same_number(result.tape, result.differences, in_double ? 1e-9 : 1e-2));
  CHECK(gradcheck([&](const std::vector<Tensor>& x) { return sum(f(x)); }, {a, b, c}));
}

TEST_CASE("the inputs are left as they were", "[phase0][gradcheck]") {
  const Tensor x({2, 2}, {1, 2, 3, 4});
  CHECK(gradcheck([](const std::vector<Tensor>& in) { return exp(in[0]); }, {transpose(x)}));
  CHECK(difference(x, {2, 2}, {1, 2, 3, 4}) == "");
}

TEST_CASE("a wrong factor is caught, with both numbers", "[phase0][gradcheck]") {
  const GradcheckResult result =
      check_spoiled(random_tensor({3, 2}), [](const Tensor& dx) { return 1.1 * dx; });
  CHECK(!result.passed);
  CHECK(missing_word(result.message, {"gradcheck: input 0 (3, 2), element (0, 0)", "the tape says ",
                                      "differences say "}) == "");
  CHECK(std::abs(result.tape / result.differences - 1.1) < 0.02);
}

TEST_CASE("one wrong element among many is named", "[phase0][gradcheck]") {
  const GradcheckResult result = check_spoiled(random_tensor({2, 3, 4}), [](const Tensor& dx) {
    Tensor wrong = dx.clone();
    wrong.set({1, 0, 2}, double{wrong.at({1, 0, 2})} + 0.5);
    return wrong;
  });
  CHECK(!result.passed);
  CHECK(missing_word(result.message, {"input 0 (2, 3, 4), element (1, 0, 2)"}) == "");
}

TEST_CASE("the wrong input among several is named", "[phase0][gradcheck]") {
  const Tensor a = random_tensor({3}, 1), b = random_tensor({3}, 2);
  const GradcheckResult result = gradcheck(
      [](const std::vector<Tensor>& x) {
        return x[0] + doubled(x[1], [](const Tensor& dx) { return -dx; });
      },
      {a, b});
  CHECK(missing_word(result.message, {"input 1 (3), element (0)"}) == "");
}

TEST_CASE("the wrong element of the first input is named by its own shape", "[phase0][gradcheck]") {
  const Tensor a = random_tensor({3}, 1), b = random_tensor({2, 2}, 2);
  const auto spoil = [](const Tensor& dx) { return dx * Tensor({3}, {1, 1, -1}); };
  const GradcheckResult result = gradcheck(
      [&](const std::vector<Tensor>& x) { return sum(doubled(x[0], spoil)) + sum(x[1]); }, {a, b});
  CHECK(missing_word(result.message, {"input 0 (3), element (2)"}) == "");
}

TEST_CASE("each element moves by a distance and to a side of its own", "[phase0][gradcheck]") {
  std::vector<real> moved(1000);
  const auto watch = [&](const std::vector<Tensor>& in) {
    if (std::all_of(moved.begin(), moved.end(), [](real x) { return x == 0; })) {
      moved = in[0].values();
    }
    return in[0] * 2;
  };
  CHECK(gradcheck(watch, {Tensor::zeros({1000})}, {.eps = 1}));
  const auto down = std::count_if(moved.begin(), moved.end(), [](real x) { return x < 0; });
  CHECK((down > 400 && down < 600));
  for (real& x : moved) x = std::abs(x);
  std::sort(moved.begin(), moved.end());
  CHECK((moved.front() >= real(0.5) && moved.front() < real(0.51)));
  CHECK((moved.back() > real(1.49) && moved.back() <= real(1.5)));
}

TEST_CASE("a forgotten gradient is caught", "[phase0][gradcheck]") {
  const Tensor a = random_tensor({3}, 1), b = random_tensor({3}, 2);
  const GradcheckResult result =
      gradcheck([](const std::vector<Tensor>& x) { return x[0] * x[1].detach(); }, {a, b});
  CHECK(missing_word(result.message, {"input 1 (3)", "the tape says 0,"}) == "");
}

TEST_CASE("a gradient with elements in the wrong places is caught", "[phase0][gradcheck]") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    CHECK(!check_spoiled(random_tensor({2}, seed), [](const Tensor& dx) {
      return concat({slice(dx, 0, 1, 2), slice(dx, 0, 0, 1)}, 0);
    }));
    CHECK(!check_spoiled(random_tensor({2, 2}, seed),
                         [](const Tensor& dx) { return transpose(dx); }));
  }
}

TEST_CASE("two elements that changed places are caught along any direction",
          "[phase0][gradcheck]") {
  const Function swapped = [](const std::vector<Tensor>& in) {
    return doubled(in[0], [](const Tensor& dx) {
      return concat({slice(dx, 0, 1, 2), slice(dx, 0, 0, 1)}, 0);
    });
  };
  int caught = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    GradcheckOptions options;
    options.seed = seed;
    caught += !gradcheck(swapped, {Tensor({2}, {0.5, 1})}, options).passed;
  }
  CHECK(caught >= (in_double ? 16 : 14));  // in float, both may by chance move equally far
}

TEST_CASE("a NaN never passes", "[phase0][gradcheck]") {
  const GradcheckResult bad_gradient =
      check_spoiled(random_tensor({3}), [](const Tensor& dx) { return dx * NAN; });
  CHECK(missing_word(bad_gradient.message, {"the tape says", "nan"}) == "");
  CHECK(!gradcheck([](const std::vector<Tensor>& x) { return sqrt(x[0]); }, {Tensor(-1)}));
}

TEST_CASE("a gradient of the wrong shape and a constant function are told by the tape",
          "[phase0][gradcheck]") {
  CHECK(
      complaint(
          [] { check_spoiled(Tensor::ones({3}), [](const Tensor&) { return Tensor::ones({2}); }); },
          {"doubled", "(2)", "(3)", "backward is wrong"}) == "");
  CHECK(complaint(
            [] { gradcheck([](const std::vector<Tensor>&) { return Tensor(1); }, {Tensor(2)}); },
            {"does not depend"}) == "");
}

TEST_CASE("the differences are exact for polynomials of fourth order", "[phase0][gradcheck]") {
  const Tensor x({3}, {-1, 0.5, 1});
  const GradcheckResult result =
      gradcheck([](const std::vector<Tensor>& in) { return in[0] * in[0] * in[0] * in[0]; }, {x});
  CHECK(result.passed);
  CHECK(same_number(result.tape, result.differences, in_double ? 1e-11 : 5e-4));
}

TEST_CASE("where a function bends sharply, a smaller eps is advised, and then passes",
          "[phase0][gradcheck]") {
  const bool is_double = sizeof(real) == 8;
  const auto curved = [&](const std::vector<Tensor>& in) {
    return sin(sum(in[0]) * (is_double ? 50.0 : 20.0));  // ()
  };
  int advised = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const auto result = gradcheck(curved, {Tensor::zeros({5})}, {.seed = seed});
    if (result.passed) continue;
    ++advised;
    CHECK(result.message.find("though every single element agrees. By steps of a quarter they "
                              "agree, so f bends sharply here: pass {.eps = ") !=
          std::string::npos);
    const double eps = GradcheckOptions{}.eps / 4;
    CHECK(result.message.ends_with(formatted("pass {.eps = %g}.", eps)));
    CHECK(gradcheck(curved, {Tensor::zeros({5})}, {.eps = eps, .seed = seed}));
  }
  CHECK(advised > 3);
}

TEST_CASE("tolerances can be set", "[phase0][gradcheck]") {
  const Function slightly_wrong = [](const std::vector<Tensor>& in) {
    return doubled(in[0], [](const Tensor& dx) { return 1.05 * dx; });
  };
  GradcheckOptions loose;
  loose.rtol = 0.1;
  CHECK(gradcheck(slightly_wrong, {Tensor({2}, {1, 2})}, loose));
  CHECK(!gradcheck(slightly_wrong, {Tensor({2}, {1, 2})}));
  if (in_double) return;
  CHECK(gradcheck([](const std::vector<Tensor>& in) { return in[0] * 2; }, {Tensor(0)},
                  {.atol = 0, .rtol = 0, .eps = 0.25}));  // products of floats are exact
}

TEST_CASE("an input without elements is checked too", "[phase0][gradcheck]") {
  CHECK(gradcheck([](const std::vector<Tensor>& in) { return sum(in[0]) + in[1]; },
                  {Tensor::zeros({0, 3}), Tensor(2)}));
}

TEST_CASE("a model's parameters are checked where they are, and put back", "[phase2][gradcheck]") {
  const Tensor w = random_tensor({3, 2}, 1), b = random_tensor({2}, 2), x = random_tensor({4, 3});
  const std::vector<real> before = w.values();
  const Parameters all = {{"w", w}, {"b", b}};
  CHECK(gradcheck([&] { return exp(matmul(x, w) + b); }, all));
  CHECK(w.values() == before);
  CHECK(gradcheck([&] { return matmul(x, w); }, all));  // b is not read: its gradient is 0
  const GradcheckResult wrong = gradcheck(
      [&] { return matmul(x, w) + doubled(b, [](const Tensor& dx) { return -dx; }); }, all);
  CHECK(missing_word(wrong.message, {"input 1 (2), element (0)"}) == "");
  CHECK(w.values() == before);
  CHECK(complaint([&] { gradcheck([&] { return w * 2; }, {{"w", transpose(w)}}); },
                  {"strided view"}) == "");
}

TEST_CASE("parameters are put back when the function throws", "[phase2][gradcheck]") {
  const Tensor w = random_tensor({3}, 1);
  const std::vector<real> before = w.values();
  const auto f = [&] {
    if (w.values() != before) throw Error("moved");
    return w * 2;
  };
  CHECK(complaint([&] { gradcheck(f, {{"w", w}}); }, {"moved"}) == "");
  CHECK(w.values() == before);
}
