#include <cmath>
#include <limits>

#include "forms.hpp"
#include "phase0.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::gradient_passes) gradient_passes;
}

namespace {

using Test = std::function<decltype(learn::gradient_passes)>;

// f(x) = trace(x x) + sum of c x^3 / 3, whose gradient is 2 x transposed + c x^2.
double function(const Tensor& x, const Tensor& c) {
  double result = 0;
  for (Index i = 0; i < x.size(0); ++i) {
    for (Index j = 0; j < x.size(1); ++j) {
      const double at = x.at({i, j});
      result += at * x.at({j, i}) + c.at({i, j}) * at * at * at / 3;
    }
  }
  return result;
}

Tensor gradient(const Tensor& x, const Tensor& c) { return 2 * transpose(x) + c * x * x; }

struct Fault {
  std::string name;
  Tensor (*wrong)(const Tensor& right, const Tensor& x, const Tensor& c);
};

Tensor first_only(const Tensor& right, const Tensor&, const Tensor&) {
  Tensor g = Tensor::zeros(right.shape());  // (n, n)
  g.set({0, 0}, right.at({0, 0}));
  return g;
}

Tensor without_last_row(const Tensor& right, const Tensor&, const Tensor&) {
  const Tensor row = slice(right, 0, right.size(0) - 1, right.size(0));  // (1, n)
  return concat({slice(right, 0, 0, right.size(0) - 1), row * 0.0}, 0);  // (n, n)
}

Tensor one_nan(const Tensor& right, const Tensor&, const Tensor&) {
  Tensor g = right.clone();  // (n, n)
  g.set({0, right.size(1) - 1}, std::numeric_limits<double>::quiet_NaN());
  return g;
}

using T = Tensor;
const std::vector<Fault> faults = {
    {"a gradient that is twice too large",
     [](const T& right, const T&, const T&) { return 2 * right; }},
    {"a gradient with the wrong sign", [](const T& right, const T&, const T&) { return -right; }},
    {"the transpose of the gradient",
     [](const T& right, const T&, const T&) { return transpose(right).contiguous(); }},
    {"a gradient of which only the first number is right", first_only},
    {"a gradient that is right for symmetric x only",
     [](const T&, const T& x, const T& c) { return 2 * x + c * x * x; }},
    {"a gradient that is right for positive x only",
     [](const T&, const T& x, const T& c) { return 2 * transpose(x) + c * x * abs(x); }},
    {"the right numbers at wrong places",
     [](const T& right, const T&, const T&) {
       return slice(right, 1, -1, -right.size(1) - 1, -1).contiguous();
     }},
    {"a gradient whose last row is 0", without_last_row},
    {"a gradient that is NaN at one place", one_nan}};

Attempt judged(const Test& test) {
  return [=](const NamedTensors& in) {
    const Tensor c = in[0].value;  // (3, 3)
    const NumberOf f = [=](const Tensor& x) { return function(x, c); };
    const GradientAt right = [=](const Tensor& x) { return gradient(x, c); };
    std::vector<GradientAt> wrong;
    for (const Fault& fault : faults) {
      wrong.push_back([=](const Tensor& x) { return fault.wrong(gradient(x, c), x, c); });
    }
    return passes([&](const GradientAt& said) { return test(f, said); }, std::vector{right}, wrong);
  };
}

// ---- Tests that people write

using Agree = bool (*)(const Tensor& said, const Tensor& slopes);

Tensor slopes_at(const NumberOf& f, const Tensor& x) {
  return filled(x.size(0), x.size(1), [&](Index i, Index j) {
    Tensor above = x.clone(), below = x.clone();  // (n, n) each
    above.set({i, j}, x.at({i, j}) + 0.02);
    below.set({i, j}, x.at({i, j}) - 0.02);
    return (f(above) - f(below)) / (double{above.at({i, j})} - double{below.at({i, j})});
  });
}

Tensor random_at(std::uint64_t seed) { return Random(seed).normal({3, 3}); }

Test compares(Agree agree, Tensor (*x)() = [] { return random_at(5); }) {
  return [=](const NumberOf& f, const GradientAt& said) {
    return agree(said(x()), slopes_at(f, x()));
  };
}

bool everywhere(const Tensor& said, const Tensor& slopes) {
  for (Index i = 0; i < said.numel(); ++i) {
    if (!(std::abs(said.values()[std::size_t(i)] - slopes.data()[i]) < 0.02)) return false;
  }
  return true;
}

bool largest_error(const Tensor& said, const Tensor& slopes) {
  double worst = 0;
  for (Index i = 0; i < said.numel(); ++i) {
    worst = std::max(worst, double{std::abs(said.values()[std::size_t(i)] - slopes.data()[i])});
  }
  return worst < 0.02;
}

bool no_error_found(const Tensor& said, const Tensor& slopes) {
  return sum(abs(said - slopes) > 0.02).item() == 0;
}

bool first_agrees(const Tensor& said, const Tensor& slopes) {
  return std::abs(said.at({0, 0}) - slopes.at({0, 0})) < 0.02;
}

bool sums_agree(const Tensor& said, const Tensor& slopes) {
  return std::abs(sum(said).item() - sum(slopes).item()) < 0.05;
}

// All numbers of x are moved at once.
bool one_direction(const NumberOf& f, const GradientAt& said) {
  const Tensor x = random_at(7);  // (3, 3)
  const double slope = (f(x + 0.01) - f(x - 0.01)) / 0.02;
  return std::abs(slope - double{sum(said(x)).item()}) < 0.05;
}

bool first_by_hand(const NumberOf& f, const GradientAt& said) {
  Tensor x = random_at(11);  // (3, 3)
  const double g = said(x).at({0, 0}), here = f(x);
  x.set({0, 0}, x.at({0, 0}) + 0.005);
  return std::abs((f(x) - here) / 0.005 - g) < 0.1;
}

bool with_itself(const NumberOf&, const GradientAt& said) {
  const Tensor x = random_at(9), g = said(x);  // (3, 3) each
  return g.shape() == x.shape() && to_string(g) == to_string(said(x));
}

const std::vector<KnownMistake> mistakes = {
    {"everything passes",
     "The test lets everything pass. It looks at the shape only, or compares the gradient with "
     "itself; compare it with differences of f.",
     judged([](const NumberOf&, const GradientAt& said) {
       return said(random_at(1)).shape() == Shape{3, 3};
     }),
     judged(with_itself)},
    {"nothing passes",
     "The test refuses every gradient, the right one, too. Differences of floats are never exact: "
     "allow an error of about a hundredth.",
     judged(compares([](const Tensor& said, const Tensor& slopes) {
       return said.values() == slopes.values();
     })),
     judged([](const NumberOf& f, const GradientAt& said) {
       return largest_difference(said(random_at(2)), slopes_at(f, random_at(2))) < 1e-9;
     })},
    {"one number only",
     "The test compares one number of the gradient, the first. What is wrong elsewhere passes.",
     judged(compares(first_agrees)), judged(first_by_hand)},
    {"sums only",
     "The test compares one number for all: the sum of the gradient, or one direction in which all "
     "of x moves. Errors that cancel pass, such as numbers at wrong places.",
     judged(compares(sums_agree)), judged(one_direction)},
    {"x too special",
     "The x of the test is symmetric and has no negative number, such as ones. A gradient that is "
     "wrong for all others passes. Take random numbers.",
     judged(compares(everywhere, [] { return Tensor::ones({3, 3}); })),
     judged([](const NumberOf& f, const GradientAt& said) {
       const Tensor x = filled(3, 3, [](Index i, Index j) { return double(i + j) / 2; });  // (3, 3)
       return largest_difference(said(x), slopes_at(f, x)) < 0.01;
     })},
    {"x positive",
     "The x of the test has positive numbers only, such as 1 to 9. A gradient that is wrong for "
     "negative ones passes.",
     judged(compares(everywhere, [] { return reshape(Tensor::arange(9), {3, 3}) / 4; })),
     judged(compares(everywhere, [] { return Random(3).uniform({3, 3}, 0, 1); }))},
    {"NaN passes",
     "Only the gradient that is NaN passes. Every comparison with NaN is false, so `error > limit` "
     "finds nothing wrong: write !(error <= limit).",
     judged(compares(largest_error)), judged(compares(no_error_found))}};

std::vector<std::string> names_of_faults() {
  std::vector<std::string> names;
  for (const Fault& fault : faults) names.push_back(fault.name);
  return names;
}

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = [](Random& random, Index) -> NamedTensors {
         Tensor c = random.uniform({3, 3}, 0.5, 2);  // (3, 3)
         c.set({0, 0}, 0);  // so that the first number does not tell positive x from negative
         return {{"c", c}};
       },
       .learner = judged(learn::gradient_passes),
       .right = {judged(solution::gradient_passes), judged(compares(everywhere))},
       .mistakes = mistakes,
       .hints = {"Choose a random x, and compute central differences for each of its numbers.",
                 "Compare number by number: the test passes only if no number differs by more than "
                 "about a hundredth.",
                 "if (!(std::abs(slope - said.at({i, j})) <= 0.01 * (1 + std::abs(slope)))) return "
                 "false; in the loops over i and j, and return true after them."},
       .faults = names_of_faults()},
      count, arguments);
}
