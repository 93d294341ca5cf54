#include "forms.hpp"
#include "phase0.hpp"
#include "steps.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::momentum_step) momentum_step;
}

namespace {

using Momentum = std::function<decltype(learn::momentum_step)>;

Tensor zeros_like(const Tensor& start) { return start * 0.0; }

Attempt moved(const Momentum& step) { return stepped(step, zeros_like); }

// Number by number: what becomes of the velocity v by the gradient g and the momentum m, and by
// which of old and new velocity the weight moves.
Momentum by_numbers(
    double (*velocity)(double v, double g, double m),
    double (*move)(double before, double after) = [](double, double after) { return after; }) {
  return [=](Tensor& weight, const Tensor& gradient, Tensor& memory, double rate, double m) {
    for (Index i = 0; i < weight.numel(); ++i) {
      const double before = memory.at({i}), after = velocity(before, gradient.at({i}), m);
      memory.set({i}, after);
      weight.set({i}, weight.at({i}) - rate * move(before, after));
    }
  };
}

// The library's operations; the memory is the velocity times `unit`.
Momentum by_library(Tensor (*velocity)(const Tensor& v, const Tensor& g, double m),
                    double sign = -1, bool keeps = true) {
  return [=](Tensor& weight, const Tensor& gradient, Tensor& memory, double rate, double m) {
    const Tensor now = velocity(memory, gradient, m);  // (n)
    weight = weight + sign * rate * now;               // (n)
    if (keeps) memory = now;
  };
}

double right_velocity(double v, double g, double m) { return m * v + g; }
Tensor right_tensor(const Tensor& v, const Tensor& g, double m) { return m * v + g; }

// The rate is in the velocity: the same weights.
void rate_inside(Tensor& weight, const Tensor& gradient, Tensor& memory, double rate, double m) {
  memory = memory * m - gradient * rate;  // (n)
  weight = weight + memory;               // (n)
}

void weight_first(Tensor& weight, const Tensor& gradient, Tensor& memory, double rate, double m) {
  weight = weight - rate * memory;  // (n)
  memory = m * memory + gradient;   // (n)
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, steps = size + 1;
  return {{"weight", random.normal({n})},
          {"gradients", random.normal({steps, n}) + 0.5},
          {"rate", Tensor(0.1 + 0.1 * double(random.randint(3)))},
          {"momentum", Tensor(0.9 - 0.2 * double(random.randint(2)))}};
}

const std::vector<KnownMistake> mistakes = {
    {"gradient weighted, too",
     "The velocity is a mean: momentum * velocity + (1 - momentum) * gradient, as in Adam. Here "
     "the gradient is added whole; your steps are only 1 - momentum times as long.",
     moved(by_numbers([](double v, double g, double m) { return m * v + (1 - m) * g; })),
     moved(by_library(
         [](const Tensor& v, const Tensor& g, double m) { return v + (1 - m) * (g - v); }))},
    {"velocity not kept",
     "The velocity of one step is gone in the next, or momentum does not multiply it: this is "
     "plain gradient descent. Write the new velocity to `velocity`.",
     moved(by_numbers([](double, double g, double) { return g; })),
     moved(by_library(right_tensor, -1, false))},
    {"old velocity used",
     "The weight moves by the velocity of the step before. Change the velocity first, then the "
     "weight.",
     moved(by_numbers(right_velocity, [](double before, double) { return before; })),
     moved(weight_first)},
    {"velocity does not fade",
     "The gradients are added up without momentum. Old gradients never fade, and the steps become "
     "longer and longer.",
     moved(by_numbers([](double v, double g, double) { return v + g; })),
     moved(by_library([](const Tensor& v, const Tensor& g, double) { return v + g; }))},
    {"momentum on the gradient, too",
     "momentum multiplies the new gradient, too: momentum * (velocity + gradient). Only what is "
     "old fades.",
     moved(by_numbers([](double v, double g, double m) { return m * (v + g); })),
     moved(by_library([](const Tensor& v, const Tensor& g, double m) { return m * v + m * g; }))},
    {"uphill",
     "The weight moves along the velocity. It has to move against it, since the velocity is a sum "
     "of gradients.",
     moved(by_numbers(right_velocity, [](double, double after) { return -after; })),
     moved(by_library(right_tensor, 1))}};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = moved(learn::momentum_step),
       .right = {moved(solution::momentum_step), moved(by_numbers(right_velocity)),
                 moved(rate_inside)},
       .mistakes = mistakes,
       .hints = {"Two lines: the velocity changes first, then the weight.",
                 "Assign to both: velocity = ...; weight = ...; they keep their new values "
                 "for the next step.",
                 "velocity = momentum * velocity + gradient; weight = weight - rate * "
                 "velocity;"}},
      count, arguments);
}
