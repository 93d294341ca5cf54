#include "tapestry/gradcheck.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "tapestry/format.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

double dot(const Tensor& a, const Tensor& b) {
  const std::vector<real> left = a.values(), right = b.values();
  return std::inner_product(left.begin(), left.end(), right.begin(), 0.0, std::plus<>(),
                            [](real x, real y) { return double{x} * double{y}; });
}

// Elements of either sign and of different sizes, none near 0: with equal sizes, a gradient with
// elements in the wrong places could still have the right sum.
Tensor random_direction(const Shape& shape, Random& random) {
  std::vector<real> numbers = random.uniform(shape, 0.5, 1.5).values();
  for (real& number : numbers) {
    if (random.bits() & 1) number = -number;
  }
  return {shape, numbers};
}

// While in scope, the inputs are moved that far along the direction.
class Moved {
 public:
  Moved(const std::vector<Tensor>& inputs, const std::vector<Tensor>& direction, double distance)
      : inputs_(inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      before_.push_back(inputs[i].values());
      real* const x = raw_to_change(inputs[i]);
      std::transform(x, x + inputs[i].numel(), raw(direction[i]), x, [=](real number, real by) {
        return number + static_cast<real>(distance * double{by});
      });
    }
  }
  ~Moved() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      std::copy(before_[i].begin(), before_[i].end(), raw_to_change(inputs_[i]));
    }
  }
  Moved(const Moved&) = delete;
  Moved& operator=(const Moved&) = delete;

 private:
  const std::vector<Tensor>& inputs_;
  std::vector<std::vector<real>> before_;
};

// What is checked: x -> sum(f() * seed), one number, with the inputs that f reads moved along a
// direction, and restored.
struct Problem {
  const std::function<Tensor()>& f;
  const std::vector<Tensor>& inputs;
  Tensor seed;
  double step;

  double at(const std::vector<Tensor>& direction, double distance) const {
    const Moved moved(inputs, direction, distance);
    return dot(f(), seed);
  }

  double derivative(const std::vector<Tensor>& direction) const {
    const double near = at(direction, step) - at(direction, -step);
    const double far = at(direction, 2 * step) - at(direction, -2 * step);
    return (8 * near - far) / (12 * step);
  }
};

bool agree(const GradcheckResult& result, const GradcheckOptions& options) {
  return std::abs(result.tape - result.differences) <=
         options.atol + options.rtol * std::abs(result.differences);
}

std::string place(const Shape& shape, Index element) {
  std::string text;
  for (int axis = shape.ndim() - 1; axis >= 0; --axis) {
    text = std::to_string(element % shape[axis]) + (text.empty() ? "" : ", ") + text;
    element /= shape[axis];
  }
  return "(" + text + ")";
}

std::string both(const GradcheckResult& result) {
  return formatted("the tape says %.6g, differences say %.6g", result.tape, result.differences);
}

// The first element whose own derivative is wrong.
GradcheckResult find_culprit(const Problem& problem, const std::vector<Tensor>& gradients,
                             const GradcheckOptions& options) {
  std::vector<Tensor> direction;
  for (const Tensor& input : problem.inputs) direction.push_back(Tensor::zeros(input.shape()));
  for (std::size_t i = 0; i < direction.size(); ++i) {
    for (Index j = 0; j < direction[i].numel(); ++j) {
      raw(direction[i])[j] = 1;
      GradcheckResult result;
      result.tape = double{raw(gradients[i])[j]};
      result.differences = problem.derivative(direction);
      raw(direction[i])[j] = 0;
      if (agree(result, options)) continue;
      result.message = "gradcheck: input " + std::to_string(i) + " " +
                       to_string(direction[i].shape()) + ", element " +
                       place(direction[i].shape(), j) + ": " + both(result) + ".";
      return result;
    }
  }
  return {};
}

// `inputs` are what f reads: contiguous, and changed during the check.
GradcheckResult check(const std::function<Tensor()>& f, const std::vector<Tensor>& inputs,
                      const GradcheckOptions& options) {
  Random random(options.seed);
  std::vector<Tensor> direction, gradients;
  for (const Tensor& input : inputs) direction.push_back(random_direction(input.shape(), random));
  Tape tape(inputs);
  const Tensor y = f();
  const Problem problem{f, inputs, random.normal(y.shape()), options.eps};
  const Gradients all = tape.backward(y, problem.seed);
  GradcheckResult result;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    gradients.push_back(all.at(i));
    result.tape += dot(gradients[i], direction[i]);
  }
  result.differences = problem.derivative(direction);
  result.passed = agree(result, options);
  if (result.passed) return result;
  const GradcheckResult culprit = find_culprit(problem, gradients, options);
  if (!culprit.message.empty()) return culprit;
  result.message = "gradcheck: along a random direction " + both(result) +
                   ", though every single element agrees.";
  const Problem finer{f, inputs, problem.seed, options.eps / 4};
  GradcheckResult again = result;
  again.differences = finer.derivative(direction);
  if (agree(again, options)) {
    result.message += formatted(
        " By steps of a quarter they agree, so f bends sharply here: "
        "pass {.eps = %g}.",
        finer.step);
  }
  return result;
}

}  // namespace

GradcheckResult gradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                          const std::vector<Tensor>& inputs, const GradcheckOptions& options) {
  std::vector<Tensor> own;
  for (const Tensor& input : inputs) own.push_back(input.clone());
  return check([&] { return f(own); }, own, options);
}

GradcheckResult gradcheck(const std::function<Tensor()>& f, const Parameters& parameters,
                          const GradcheckOptions& options) {
  std::vector<Tensor> inputs;
  for (const Parameter& parameter : parameters) inputs.push_back(parameter.value);
  return check(f, inputs, options);
}

}  // namespace tapestry
