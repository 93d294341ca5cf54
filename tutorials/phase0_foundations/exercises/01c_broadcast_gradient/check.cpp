#include <algorithm>

#include "course/exercise.hpp"
#include "phase0.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::broadcast_backward) broadcast_backward;
}

namespace {

using Backward = std::function<decltype(learn::broadcast_backward)>;

Attempt summed(const Backward& backward) {
  return [=](const NamedTensors& in) -> NamedTensors {
    return {{"dx", backward(in[0].value, in[1].value.shape())}};
  };
}

// dy (...) by loops over three axes: dx at (i, j, k), where x has size 1 at 0, gets what `use`
// makes of it and dy(i, j, k). `behind`: missing axes are the last.
Backward by_loops(double (*use)(double dx, double dy), bool behind = false) {
  return [=](const Tensor& dy, const Shape& shape) {
    Shape full = shape, sizes = dy.shape();
    while (full.ndim() < 3) full = full.inserted(behind ? full.ndim() : 0, 1);
    while (sizes.ndim() < 3) sizes = sizes.inserted(behind ? sizes.ndim() : 0, 1);
    Tensor dx = Tensor::zeros(full);                // (full)
    const Tensor all = reshape(dy, sizes).clone();  // (sizes)
    for (Index i = 0; i < sizes[0]; ++i) {
      for (Index j = 0; j < sizes[1]; ++j) {
        for (Index k = 0; k < sizes[2]; ++k) {
          const auto at = {i % full[0], j % full[1], k % full[2]};
          dx.set(at, use(double{dx.at(at)}, double{all.at({i, j, k})}));
        }
      }
    }
    return reshape(dx, shape);  // (shape)
  };
}

// By the library: `reduce` takes an axis and whether it stays.
Backward by_axes(Tensor (*reduce)(const Tensor& x, int axis, bool keep)) {
  return [=](const Tensor& dy, const Shape& shape) {
    Tensor dx = dy;  // (y's shape)
    while (dx.ndim() > shape.ndim()) dx = reduce(dx, 0, false);
    for (int axis = 0; axis < shape.ndim(); ++axis) {
      if (shape[axis] == 1) dx = reduce(dx, axis, true);
    }
    return dx;
  };
}

// By the tape: the gradient of x in sum((x + 0) * dy).
Tensor by_tape(const Tensor& dy, const Shape& shape) {
  const Tensor x = Tensor::zeros(shape);  // (shape)
  Tape tape({x});
  return tape.backward(sum((x + Tensor::zeros(dy.shape())) * dy))[x];  // (shape)
}

Tensor by_last_axes(const Tensor& dy, const Shape& shape) {
  Tensor dx = dy;  // (y's shape)
  while (dx.ndim() > shape.ndim()) dx = sum(dx, -1);
  for (int axis = 0; axis < shape.ndim(); ++axis) {
    if (shape[axis] == 1) dx = sum(dx, axis, true);
  }
  return dx;
}

Tensor mean_of(const Tensor& x, int axis, bool keep) { return mean(x, axis, keep); }

Tensor only_missing(const Tensor& dy, const Shape& shape) {
  Tensor dx = dy;  // (y's shape)
  while (dx.ndim() > shape.ndim()) dx = sum(dx, 0);
  return dx;
}

Tensor only_missing_by_loops(const Tensor& dy, const Shape& shape) {
  const auto from = dy.shape().begin() + (dy.ndim() - shape.ndim());
  Tensor dx = Tensor::zeros(Shape(std::span(from, dy.shape().end())));  // (y's last axes)
  for (Index i = 0; i < dy.numel(); ++i) dx.data()[i % dx.numel()] += dy.data()[i];
  return dx;
}

// The axes of size 1 are summed while dy still has all its axes, by their place in x.
Tensor in_wrong_order(const Tensor& dy, const Shape& shape) {
  Tensor dx = dy;  // (y's shape)
  for (int axis = 0; axis < shape.ndim(); ++axis) {
    if (shape[axis] == 1) dx = sum(dx, axis, true);
  }
  while (dx.ndim() > shape.ndim()) dx = sum(dx, 0);
  return dx;
}

Tensor at_once(const Tensor& dy, const Shape& shape) {
  const int missing = dy.ndim() - shape.ndim();
  std::vector<int> axes;
  for (int axis = 0; axis < dy.ndim(); ++axis) {
    if (axis < missing || (axis < shape.ndim() && shape[axis] == 1)) axes.push_back(axis);
  }
  Tensor dx = sum(dy, axes, true);  // (y's axes)
  for (int axis = 0; axis < missing; ++axis) dx = squeeze(dx, 0);
  return dx;
}

// x lacks the first axis and has size 1 in the last; sizes are 1 or n, so that it fits dy at its
// first axes, too.
NamedTensors inputs(Random& random, Index size) {
  const Index n = std::max(Index{2}, size), one = 1;
  if (size == 1) {
    return {{"dy", random.normal({n, n}) + 0.5},
            {"x", random.normal({random.randint(2) ? n : one})}};
  }
  const bool lacks = size == 4 || random.randint(2) == 0,
             single = size == 4 || !lacks || random.randint(2) == 0;
  const Shape two{n, single ? one : n}, three{one, n, single ? one : n};
  return {{"dy", random.normal({n, n, n}) + 0.5}, {"x", random.normal(lacks ? two : three)}};
}

const std::vector<KnownMistake> mistakes = {
    {"not summed back",
     "The gradient of y is returned as it came, in y's shape. A gradient of x has x's shape: the "
     "gradients of all places where a number of x was used are added.",
     summed([](const Tensor& dy, const Shape&) { return dy; }),
     summed([](const Tensor& dy, const Shape& shape) { return dy + Tensor::zeros(shape); })},
    {"mean instead of sum",
     "The gradients of the places are averaged. They have to be added: a number that was repeated "
     "ten times changes the loss ten times.",
     summed(by_axes(mean_of)), summed([](const Tensor& dy, const Shape& shape) {
       return solution::broadcast_backward(dy, shape) *
              (double(shape.numel()) / double(dy.numel()));
     })},
    {"one place only",
     "Only the gradient of one place was kept, the first, and the other places where the number "
     "was used were left out.",
     summed(by_axes([](const Tensor& x, int axis, bool keep) {
       const Tensor first = slice(x, axis, 0, 1);  // size 1 along the axis
       return keep ? first : squeeze(first, axis);
     })),
     summed([](const Tensor& dy, const Shape& shape) {
       return by_loops([](double dx, double one) { return dx == 0 ? one : dx; })(dy, shape);
     })},
    {"gradient overwritten",
     "Each place overwrites the gradient of the place before, so that only the last one is left. "
     "They have to be added: += and not =.",
     summed(by_loops([](double, double one) { return one; })),
     summed(by_axes([](const Tensor& x, int axis, bool keep) {
       const Tensor last = slice(x, axis, x.size(axis) - 1, x.size(axis));  // size 1 there
       return keep ? last : squeeze(last, axis);
     }))},
    {"last axes summed",
     "The axes that x lacks were taken from the end. Broadcasting aligns shapes at the last axis, "
     "so those that are missing are the first.",
     summed(by_last_axes), summed(by_loops([](double dx, double one) { return dx + one; }, true))},
    {"axes of size 1 not summed",
     "The missing axes were summed, but not those where x has size 1. They were repeated, too.",
     summed(only_missing), summed(only_missing_by_loops)},
    {"axes of x looked up in dy",
     "The axes where x has size 1 were summed while dy still had the axes that x lacks. Axis 0 of "
     "x "
     "is not axis 0 of dy then: drop the missing axes first.",
     summed(in_wrong_order), summed(at_once)}};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = summed(learn::broadcast_backward),
       .right = {summed(solution::broadcast_backward), summed(by_tape),
                 summed(by_loops([](double dx, double one) { return dx + one; }))},
       .mistakes = mistakes,
       .hints = {"First get rid of the axes that x does not have: they are the first of dy.",
                 "While dx has more axes than shape, sum it along axis 0. Then look at each axis.",
                 "for each axis: if (shape[axis] == 1) dx = sum(dx, axis, true);"}},
      count, arguments);
}
