#include <cmath>

#include "forms.hpp"
#include "phase0.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::numerical_gradient) numerical_gradient;
}

namespace {

using Numerical = std::function<decltype(learn::numerical_gradient)>;

// A function whose slope by one number depends on the others, too.
double function(const Tensor& x) {
  const std::vector<real> values = x.values();
  double sum = 0, before = 1;
  for (const double now : values) {
    sum += now * now * now / 3 + std::sin(now + before) * before;
    before = now;
  }
  return sum;
}

Attempt measured(const Numerical& numerical) {
  return [=](const NamedTensors& in) -> NamedTensors {
    return {{"gradient", numerical(function, in[0].value, in[1].value.item())}};
  };
}

// x with one number moved.
Tensor moved(const Tensor& x, Index i, Index j, double by) {
  Tensor y = x.clone();  // (n, m)
  y.set({i, j}, y.at({i, j}) + by);
  return y;
}

// By a formula of f at the three places.
Numerical by_formula(double (*formula)(double above, double here, double below, double h)) {
  return [=](const NumberOf& f, const Tensor& x, double h) {
    return filled(x.size(0), x.size(1), [&](Index i, Index j) {
      return formula(f(moved(x, i, j, h)), f(x), f(moved(x, i, j, -h)), h);
    });
  };
}

// By adding to the data in place, element by element: up by h, down by `down`, and up by `back`.
Numerical in_place(double down, double back, double divisor) {
  return [=](const NumberOf& f, const Tensor& x, double h) {
    Tensor y = x.clone(), g = Tensor::zeros(x.shape());  // (n, m) each
    for (Index i = 0; i < x.numel(); ++i) {
      y.data()[i] += real(h);
      const double above = f(y);
      y.data()[i] -= real(down * h);
      g.data()[i] = real((above - f(y)) / (divisor * h));
      y.data()[i] += real(back * h);
    }
    return g;
  };
}

// The same with all numbers before this one at x - h.
Tensor not_set_back(const NumberOf& f, const Tensor& x, double h) {
  Tensor g = Tensor::zeros(x.shape());  // (n, m)
  for (Index i = 0; i < x.numel(); ++i) {
    const Tensor before = reshape(Tensor::arange(x.numel()), x.shape()) < Tensor(double(i));
    const Tensor start = x - before * h;  // (n, m)
    const Index row = i / x.size(1), column = i % x.size(1);
    g.data()[i] =
        real((f(moved(start, row, column, h)) - f(moved(start, row, column, -h))) / 2 / h);
  }
  return g;
}

Tensor all_moved(const NumberOf& f, const Tensor& x, double h) {
  return Tensor::full(x.shape(), (f(x + h) - f(x - h)) / (2 * h));  // (n, m)
}

// The derivative in a direction: all numbers move.
Tensor all_moved_by_loops(const NumberOf& f, const Tensor& x, double h) {
  Tensor above = x.clone(), below = x.clone();  // (n, m) each
  for (Index i = 0; i < x.numel(); ++i) above.data()[i] += real(h), below.data()[i] -= real(h);
  return filled(x.size(0), x.size(1), [&](Index, Index) { return (f(above) - f(below)) / 2 / h; });
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size, m = size + 1 + (size > 1 ? random.randint(2) : 0);
  return {{"x", random.normal({n, m})}, {"h", Tensor(size % 2 == 0 ? 0.125 : 0.25)}};
}

const std::vector<KnownMistake> mistakes = {
    {"one side only",
     "This is the difference to one side, (f(x + h) - f(x)) / h. Its error falls with h, that of "
     "the central difference with h squared.",
     measured(by_formula(
         [](double above, double here, double, double h) { return (above - here) / h; })),
     measured(in_place(1, 0, 1))},
    {"divided by h",
     "The difference is divided by h, but the two places are 2 h apart. Everything is twice too "
     "large.",
     measured(by_formula(
         [](double above, double, double below, double h) { return (above - below) / h; })),
     measured(in_place(2, 1, 1))},
    {"sign", "All signs are wrong: it has to be f above minus f below.",
     measured(by_formula(
         [](double above, double, double below, double h) { return (below - above) / (2 * h); })),
     measured(in_place(2, 1, -2))},
    {"not set back",
     "A number that was moved is not set back, so that the next one is measured at another place. "
     "After each pair of calls x has to be what it was.",
     measured(in_place(2, 0, 2)), measured(not_set_back)},
    {"all numbers moved at once",
     "All numbers are moved together, so each element of the result is the sum of all slopes. Move "
     "one number at a time.",
     measured(all_moved), measured(all_moved_by_loops)}};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = measured(learn::numerical_gradient),
       .right = {measured(solution::numerical_gradient), measured(in_place(2, 1, 2)),
                 measured(by_formula([](double above, double, double below, double h) {
                   return (above - below) / (2 * h);
                 }))},
       .mistakes = mistakes,
       .hints =
           {"Take a clone of x, and loop over all its numbers.",
            "For each: set it to x + h and call f, set it to x - h and call f, set it back.",
            "moved.set({i, j}, x.at({i, j}) + h); const double above = f(moved); the same with "
            "- h; then gradient.set({i, j}, (above - below) / (2 * h));"}},
      count, arguments);
}
