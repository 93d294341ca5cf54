#include <algorithm>

#include "course/exercise.hpp"
#include "phase0.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::broadcast_add) broadcast_add;
}

namespace {

using Add = std::function<decltype(learn::broadcast_add)>;

bool refuses(const Add& add, const Tensor& a, const Tensor& b) {
  try {
    (void)add(a, b);
    return false;
  } catch (const Error&) {
    return true;
  }
}

Attempt added(const Add& add) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const Tensor &a = in[0].value, &b = in[1].value, &unfit = in[2].value;
    return {{"a + b", add(a, b)},
            {"a + c is refused", Tensor(refuses(add, a, unfit) ? 1 : 0)},
            {"c + a is refused", Tensor(refuses(add, unfit, a) ? 1 : 0)}};
  };
}

Tensor library(const Tensor& a, const Tensor& b) { return a + b; }

// x with axes of size 1 up to a rank: in front of the others or behind them.
Tensor with_axes(Tensor x, int rank, bool behind) {
  while (x.ndim() < rank) x = unsqueeze(x, behind ? -1 : 0);  // (1, ...) or (..., 1)
  return x;
}

Tensor aligned_at_front(const Tensor& a, const Tensor& b) {
  const int rank = std::max(a.ndim(), b.ndim());
  return with_axes(a, rank, true) + with_axes(b, rank, true);
}

// The same by turned axes: transposed, the first axes are the last.
Tensor turned(const Tensor& x) {
  std::vector<int> order;
  for (int axis = x.ndim(); axis-- > 0;) order.push_back(axis);
  return permute(x, order);
}

// Sizes to which a and b broadcast; where they do not fit, the larger one.
std::vector<Index> larger(const Tensor& a, const Tensor& b) {
  const int rank = std::max(a.ndim(), b.ndim());
  const Tensor x = with_axes(a, rank, false), y = with_axes(b, rank, false);
  std::vector<Index> sizes;
  for (int axis = 0; axis < rank; ++axis) sizes.push_back(std::max(x.size(axis), y.size(axis)));
  return sizes;
}

void need_fit(const Tensor& a, const Tensor& b) {
  (void)broadcast_shapes("add", a.shape(), b.shape());
}

// Number i of the sum reads both in a circle.
Tensor in_a_circle(const Tensor& a, const Tensor& b) {
  need_fit(a, b);
  const std::vector<Index> sizes = larger(a, b);
  Tensor y = Tensor::zeros(Shape(std::span<const Index>(sizes)));  // (sizes)
  for (Index i = 0; i < y.numel(); ++i) {
    y.data()[i] = a.data()[i % a.numel()] + b.data()[i % b.numel()];
  }
  return y;
}

// The numbers of x again and again, as many as there are in a tensor of that shape.
Tensor tiled(const Tensor& x, const Shape& shape) {
  std::vector<real> values;
  while (static_cast<Index>(values.size()) < shape.numel()) {
    for (const real one : x.values()) values.push_back(one);
  }
  return Tensor(shape, values);  // (shape)
}

Tensor tiled_sum(const Tensor& a, const Tensor& b) {
  const Shape shape = broadcast_shapes("add", a.shape(), b.shape());
  return tiled(a, shape) + tiled(b, shape);
}

// Shapes that do not fit are not refused: what is beyond an axis is read from its start.
Tensor never_refused(const Tensor& a, const Tensor& b) {
  const std::vector<Index> sizes = larger(a, b);
  const Shape shape{std::span<const Index>(sizes)};
  return broadcasts_to(a.shape(), shape) && broadcasts_to(b.shape(), shape) ? a + b
                                                                            : in_a_circle(a, a);
}

Tensor error_swallowed(const Tensor& a, const Tensor& b) {
  try {
    return a + b;
  } catch (const Error&) {
    return a;
  }
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, one = 1;
  if (size == 1) {
    return {{"a", random.normal({n, n})}, {"b", random.normal({n})}, {"c", random.normal({n, 4})}};
  }
  const bool first = size == 4 || random.randint(2) == 0;
  const Tensor x = random.normal({first ? n : one, size == 4 ? one : n, n});  // (1 or n, 1 or n, n)
  const Tensor y = random.normal({n, size == 4 || first ? n : one});          // (n, 1 or n)
  const bool swapped = random.randint(2) == 0;
  return {{"a", swapped ? y : x}, {"b", swapped ? x : y}, {"c", random.normal({2 * n})}};
}

const std::vector<KnownMistake> mistakes = {
    {"aligned at the first axis",
     "The missing axes were added behind the others: the shapes stand together at their first "
     "axes. They have to stand together at the last, or a row is added to columns.",
     added(aligned_at_front),
     added([](const Tensor& a, const Tensor& b) { return turned(turned(a) + turned(b)); })},
    {"read in a circle",
     "The shape is right, but the numbers of the smaller tensor are read one after the other, and "
     "again from the start. That repeats whole tensors: it is right if only axes in front are "
     "missing, and wrong if an axis behind has size 1.",
     added(in_a_circle), added(tiled_sum)},
    {"nothing is refused",
     "The sums are right, but shapes that do not fit are added, too: a size that is neither equal "
     "nor 1 has to be an error. Otherwise a wrong shape goes on as wrong numbers.",
     added(never_refused), added(error_swallowed)}};

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = added(learn::broadcast_add),
                .right = {added(solution::broadcast_add), added(library)},
                .mistakes = mistakes,
                .hints = {"Make both shapes equally long first: sizes of 1 go in front.",
                          "Three loops over the result. For each tensor compute its strides row by "
                          "row, and set the stride of every axis of size 1 to 0.",
                          "out[...] = a[i * xs[0] + j * xs[1] + k * xs[2]] + b[i * ys[0] + ...], "
                          "where xs[1] is 0 if a's middle size is 1, else its last size."}},
               count, arguments);
}
