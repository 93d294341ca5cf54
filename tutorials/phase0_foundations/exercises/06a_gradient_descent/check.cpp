#include "forms.hpp"
#include "phase0.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::gradient_descent) gradient_descent;
}

namespace {

using Descent = std::function<decltype(learn::gradient_descent)>;

// In a valley: the gradient at w is steepness (n, n) times (w - goal).
Attempt descended(const Descent& descent) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const Tensor steepness = in[2].value, goal = in[1].value;  // (n, n), (n)
    const GradientAt gradient = [=](const Tensor& w) { return sum(steepness * (w - goal), -1); };
    return {{"weights", descent(in[0].value, gradient, in[3].value.item(),
                                static_cast<Index>(in[4].value.item()))}};
  };
}

// By the library: what a step makes of w, the gradient there, the gradient at the start.
Descent by_library(Tensor (*step)(const Tensor& w, const Tensor& g, const Tensor& at_start,
                                  double rate),
                   Index more_steps = 0) {
  return [=](const Tensor& start, const GradientAt& gradient, double rate, Index steps) {
    Tensor w = start;  // (n)
    for (Index i = 0; i < steps + more_steps; ++i) w = step(w, gradient(w), gradient(start), rate);
    return w;
  };
}

// Number by number. `fresh`: when the gradient is computed.
enum Fresh { each_step, each_number, once };
Descent by_numbers(Fresh fresh, double sign = -1, bool with_rate = true, Index more_steps = 0) {
  return [=](const Tensor& start, const GradientAt& gradient, double rate, Index steps) {
    Tensor w = start.clone(), g = gradient(w);  // (n) each
    for (Index left = steps + more_steps; left > 0; --left) {
      if (fresh == each_step) g = gradient(w);
      for (Index i = 0; i < w.numel(); ++i) {
        if (fresh == each_number) g = gradient(w);
        w.set({i}, w.at({i}) + sign * (with_rate ? rate : 1) * g.at({i}));
      }
    }
    return w;
  };
}

// The same without a loop over steps: all of it is one long step.
Tensor one_long_step(const Tensor& start, const GradientAt& gradient, double rate, Index steps) {
  return start - gradient(start) * (rate * double(steps));  // (n)
}

// Each number by itself, as a tensor of which the others are kept.
Tensor one_after_the_other(const Tensor& start, const GradientAt& gradient, double rate,
                           Index steps) {
  Tensor w = start;                           // (n)
  const Tensor eye = Tensor::eye(w.numel());  // (n, n)
  for (Index i = 0; i < steps * w.numel(); ++i) {
    w = w -
        rate * gradient(w) * reshape(slice(eye, 0, i % w.numel(), i % w.numel() + 1), w.shape());
  }
  return w;
}

Tensor down(const Tensor& w, const Tensor& g, const Tensor&, double rate) { return w - rate * g; }

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1;
  const Tensor m = random.normal({n, n});                                         // (n, n)
  const Tensor steepness = matmul(m, transpose(m)) / double(n) + Tensor::eye(n);  // (n, n)
  return {{"start", random.normal({n})},
          {"goal", random.normal({n}, 2)},
          {"steepness", steepness},
          {"rate", Tensor(0.1 + 0.05 * double(random.randint(3)))},
          {"steps", Tensor(double(size + random.randint(2)))}};
}

const std::vector<KnownMistake> mistakes = {
    {"uphill",
     "The step goes along the gradient and not against it: w + rate * g. The gradient points to "
     "where the function grows.",
     descended(by_numbers(each_step, 1)),
     descended(by_library([](const Tensor& w, const Tensor& g, const Tensor&, double rate) {
       return w + g * rate;
     }))},
    {"gradient computed once",
     "All steps use the gradient of the start. After each step w is at another place, and the "
     "gradient there is another one.",
     descended(by_numbers(once)), descended(one_long_step)},
    {"gradient computed for each number",
     "The numbers move one after the other, each by a gradient that sees those moved before. In a "
     "step of gradient descent all move together, by one gradient.",
     descended(by_numbers(each_number)), descended(one_after_the_other)},
    {"one step too few", "One step is missing: a loop that begins at 1 has to end after `steps`.",
     descended(by_numbers(each_step, -1, true, -1)), descended(by_library(down, -1))},
    {"one step too many",
     "There is one step too many: a loop that begins at 0 has to end before `steps`.",
     descended(by_numbers(each_step, -1, true, 1)), descended(by_library(down, 1))},
    {"rate left out",
     "The steps are the whole gradient, without the learning rate. The gradient says how steep it "
     "is, not how far the bottom is away.",
     descended(by_numbers(each_step, -1, false)),
     descended(by_library(
         [](const Tensor& w, const Tensor& g, const Tensor&, double) { return w - g; }))}};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = descended(learn::gradient_descent),
       .right = {descended(solution::gradient_descent), descended(by_numbers(each_step)),
                 descended(by_library(down))},
       .mistakes = mistakes,
       .hints = {"Begin with a tensor w that is start, and change it in a loop.",
                 "In the loop: compute the gradient at w, multiply it by the rate, and "
                 "subtract that from w.",
                 "for (Index step = 0; step < steps; ++step) w = w - rate * gradient(w);"}},
      count, arguments);
}
