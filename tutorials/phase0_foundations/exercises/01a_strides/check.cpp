#include <algorithm>
#include <numeric>

#include "course/exercise.hpp"
#include "phase0.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::strides_of) strides_of;
decltype(learn::place_of) place_of;
decltype(learn::transposed_layout) transposed_layout;
}  // namespace solution

namespace {

using Numbers = std::vector<Index>;

struct Functions {
  std::function<decltype(learn::strides_of)> strides = solution::strides_of;
  std::function<decltype(learn::place_of)> place = solution::place_of;
  std::function<decltype(learn::transposed_layout)> transposed = solution::transposed_layout;
};

Numbers whole(const Tensor& x) {
  const std::vector<real> values = x.values();
  return {values.begin(), values.end()};
}

Tensor as_tensor(const Numbers& x) {
  const std::vector<real> values(x.begin(), x.end());
  return Tensor({static_cast<Index>(x.size())}, values);  // (axes)
}

// Each function is given the right strides, so that one that is wrong leaves the others right.
Attempt tried(const Functions& f) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const Numbers shape = whole(in[0].value), position = whole(in[1].value);
    const Layout layout{shape, solution::strides_of(shape), whole(in[2].value)[0]};
    const Layout turned = f.transposed(layout);
    return {{"strides", as_tensor(f.strides(shape))},
            {"place", Tensor(double(f.place(layout, position)))},
            {"transposed: shape", as_tensor(turned.shape)},
            {"transposed: strides", as_tensor(turned.strides)},
            {"transposed: start", Tensor(double(turned.start))}};
  };
}

// The product of all sizes from one axis on, up to another.
Index product(const Numbers& shape, std::size_t from, std::size_t to) {
  Index result = 1;
  for (std::size_t i = from; i < to; ++i) result *= shape[i];
  return result;
}

// The strides where that of axis i is the product of some sizes.
std::function<Numbers(const Numbers&)> products(
    std::pair<std::size_t, std::size_t> (*of)(std::size_t i, std::size_t axes)) {
  return [=](const Numbers& shape) {
    Numbers strides;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const auto [from, to] = of(i, shape.size());
      strides.push_back(product(shape, from, to));
    }
    return strides;
  };
}

// The same by a running product, from the back or from the front; `early`: the own size is in it.
std::function<Numbers(const Numbers&)> running(bool from_the_front, bool early) {
  return [=](Numbers shape) {
    if (from_the_front) std::reverse(shape.begin(), shape.end());
    Numbers strides(shape.size());
    Index step = 1;
    for (auto i = shape.size(); i-- > 0;) {
      strides[i] = early ? step * shape[i] : step;
      step *= shape[i];
    }
    if (from_the_front) std::reverse(strides.begin(), strides.end());
    return strides;
  };
}

Index inner(const Layout& x, const Numbers& position) {
  return std::inner_product(position.begin(), position.end(), x.strides.begin(), Index{0});
}

// The axes in another order; which of shape and strides follow it.
std::function<Layout(const Layout&)> ordered(std::vector<std::size_t> (*order)(std::size_t axes),
                                             bool shape = true, bool strides = true) {
  return [=](const Layout& x) {
    Layout y = x;
    const std::vector<std::size_t> from = order(x.shape.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (shape) y.shape[i] = x.shape[from[i]];
      if (strides) y.strides[i] = x.strides[from[i]];
    }
    return y;
  };
}

std::vector<std::size_t> backwards(std::size_t axes) {
  std::vector<std::size_t> order(axes);
  for (std::size_t i = 0; i < axes; ++i) order[i] = axes - 1 - i;
  return order;
}

std::vector<std::size_t> last_two(std::size_t axes) {
  std::vector<std::size_t> order(axes);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[axes - 2], order[axes - 1]);
  return order;
}

NamedTensors inputs(Random& random, Index size) {
  const Index axes = size < 3 ? 2 : 3 + random.randint(2);
  const std::vector<Index> sizes = random.permutation(axes);
  Numbers shape, position;
  for (const Index one : sizes) {
    shape.push_back(one + 2);
    position.push_back(one + 1 - random.randint(size < 3 ? 1 : 2));
  }
  const double start = double(random.randint(5) + (size > 1));
  return {{"shape", as_tensor(shape)}, {"position", as_tensor(position)}, {"start", start}};
}

const std::vector<KnownMistake> mistakes = {
    {"strides from the front",
     "The strides grow from the first axis to the last: the columns lie together, not the rows. "
     "Here the last axis has stride 1, and the first one the largest.",
     tried({.strides = running(true, false)}),
     tried({.strides = products([](std::size_t i, std::size_t) { return std::pair{0 * i, i}; })})},
    {"own size in the stride",
     "The stride of an axis contains the size of the axis itself, so the last stride is not 1. One "
     "step along an axis passes only what the axes after it hold.",
     tried({.strides = running(false, true)}),
     tried({.strides = products([](std::size_t i, std::size_t n) { return std::pair{i, n}; })})},
    {"stride is the size of the next axis",
     "Each stride is the size of the next axis alone. With two axes that is right; with more, a "
     "stride is the product of the sizes of all axes after it.",
     tried({.strides = products([](std::size_t i, std::size_t n) {
              return std::pair{i + 1, std::min(i + 2, n)};
            })}),
     tried({.strides =
                [](const Numbers& shape) {
                  Numbers strides(shape.begin() + 1, shape.end());
                  strides.push_back(1);
                  return strides;
                }})},
    {"start forgotten",
     "The place does not begin at `start`. A slice shares the numbers of a larger tensor and "
     "begins somewhere in the middle of them.",
     tried({.place = inner}),
     tried({.place = [](const Layout& x,
                        const Numbers& at) { return solution::place_of(x, at) - x.start; }})},
    {"only the shape transposed",
     "The shape is that of a transpose, but the strides stayed. This is a reshape: the numbers "
     "keep their order and are cut into other rows.",
     tried({.transposed = ordered(last_two, true, false)}),
     tried({.transposed =
                [](const Layout& x) {
                  Layout y = solution::transposed_layout(x);
                  y.strides = x.strides;
                  return y;
                }})},
    {"only the strides transposed",
     "The last two strides changed places, but the last two sizes did not. The axes of a transpose "
     "are exchanged: each takes its size and its stride along.",
     tried({.transposed = ordered(last_two, false, true)}),
     tried({.transposed =
                [](const Layout& x) {
                  Layout y = solution::transposed_layout(x);
                  y.shape = x.shape;
                  return y;
                }})},
    {"all axes turned around",
     "All axes are in reverse order. With two axes that is the transpose; with more, only the last "
     "two change places.",
     tried({.transposed = ordered(backwards)}), tried({.transposed = [](Layout x) {
       std::reverse(x.shape.begin(), x.shape.end());
       std::reverse(x.strides.begin(), x.strides.end());
       return x;
     }})}};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = tried({learn::strides_of, learn::place_of, learn::transposed_layout}),
       .right = {tried({}),
                 tried({products([](std::size_t i, std::size_t n) { return std::pair{i + 1, n}; }),
                        [](const Layout& x, const Numbers& at) { return inner(x, at) + x.start; },
                        ordered(last_two)})},
       .mistakes = mistakes,
       .hints = {"Walk over the axes from the last to the first, and keep the product of "
                 "the sizes that you have passed.",
                 "strides[i] = step; step *= shape[i]. The place is a sum over the axes "
                 "that begins at layout.start.",
                 "Copy the layout, then std::swap the last two numbers of its shape and "
                 "the last two of its strides. Nothing else changes."}},
      count, arguments);
}
