#include <vector>

#include "course/exercise.hpp"
#include "phase8.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::fixed_tree_sum) fixed_tree_sum;
}

namespace {

using Numbers = std::vector<double>;
using Sum = std::function<decltype(learn::fixed_tree_sum)>;

// Neither associative nor commutative, so that each order has results of its own.
Attempt with_orders(const Sum& f) {
  return [=](const NamedTensors& in) -> NamedTensors {
    Numbers addends;
    for (const real x : in[0].value.values()) addends.push_back(double{x});
    std::vector<real> sums;
    for (const double part : {0.9, 0.7, 0.5, 0.3}) {
      const auto add = [=](double left, double other) {
        return part * left + (1.3 - part) * other + 0.3;
      };
      sums.push_back(real(f(addends, add)));
    }
    return {{"sums by four additions", Tensor({4}, sums)}};  // (4)
  };
}

enum Kind {
  right,
  to_the_right,
  to_the_left,
  in_halves,
  small_first,
  swapped,
  odd_dropped,
  far_pairs
};

std::size_t middle_of(Kind kind, std::size_t n) {
  std::size_t half = 1;
  while (2 * half < n) half *= 2;
  switch (kind) {
    case to_the_right:
      return n - 1;
    case to_the_left:
      return 1;
    case in_halves:
      return n / 2;
    case small_first:
      return n - half;
    default:
      return half;
  }
}

double top_down(Kind kind, const Numbers& x, const Addition& add, std::size_t first,
                std::size_t last) {
  if (last - first == 1) return x[first];
  const std::size_t middle = first + middle_of(kind, last - first);
  const double left = top_down(kind, x, add, first, middle),
               other = top_down(kind, x, add, middle, last);
  return kind == swapped ? add(other, left) : add(left, other);
}

// Level by level: pairs of neighbours, or those half the length apart.
double by_levels(Kind kind, Numbers x, const Addition& add) {
  while (x.size() > 1) {
    const std::size_t pairs = x.size() / 2;
    const bool odd = x.size() % 2 == 1;
    Numbers next;
    for (std::size_t i = 0; i < pairs; ++i) {
      const double a = kind == far_pairs ? x[i] : x[2 * i];
      const double b = kind == far_pairs ? x[i + pairs] : x[2 * i + 1];
      next.push_back(kind == swapped ? add(b, a) : add(a, b));
    }
    if (odd && kind != odd_dropped) next.push_back(x.back());
    x = next;
  }
  return x[0];
}

// Bottom up by a loop: from one end, or for the orders of levels by recursion over a copy.
double other_form(Kind kind, const Numbers& x, const Addition& add) {
  if (kind == right || kind == swapped) return by_levels(kind, x, add);
  if (kind == to_the_right) {
    double sum = x[0];
    for (std::size_t i = 1; i < x.size(); ++i) sum = add(sum, x[i]);
    return sum;
  }
  if (kind == to_the_left) {
    double sum = x.back();
    for (std::size_t i = x.size() - 1; i-- > 0;) sum = add(x[i], sum);
    return sum;
  }
  if (x.size() == 1) return x[0];
  if (kind == odd_dropped || kind == far_pairs) {
    const std::size_t pairs = x.size() / 2, apart = kind == far_pairs ? pairs : 1;
    Numbers next(pairs + (kind == far_pairs ? x.size() % 2 : 0), x.back());
    for (std::size_t i = 0; i < pairs; ++i) {
      const std::size_t at = kind == far_pairs ? i : 2 * i;
      next[i] = add(x[at], x[at + apart]);
    }
    return other_form(kind, next, add);
  }
  const auto middle = x.begin() + std::ptrdiff_t(middle_of(kind, x.size()));
  return add(other_form(kind, {x.begin(), middle}, add), other_form(kind, {middle, x.end()}, add));
}

Sum first_form(Kind kind) {
  return [=](const Numbers& x, const Addition& add) {
    if (kind == odd_dropped || kind == far_pairs) return by_levels(kind, x, add);
    return top_down(kind, x, add, 0, x.size());
  };
}
Sum second_form(Kind kind) {
  return [=](const Numbers& x, const Addition& add) { return other_form(kind, x, add); };
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return {name, sentence, with_orders(first_form(kind)), with_orders(second_form(kind))};
}

NamedTensors inputs(Random& random, Index size) {
  constexpr Index counts[] = {3, 5, 6, 11};
  return {{"addends", random.normal({counts[size - 1]}, 2)}};
}

const std::vector<KnownMistake> mistakes = {
    known(to_the_right, "from left to right",
          "Each addend was added to the sum of all before it. That is a tree, too, but its nodes "
          "cannot be divided among ranks: each needs the one before."),
    known(to_the_left, "from right to left",
          "The node was divided behind its first addend, so the sum runs from the right end to the "
          "left. The first part has the largest power of two below n."),
    known(in_halves, "divided in the middle",
          "Nodes were divided at n / 2. Then other nodes appear for each n; with the largest power "
          "of two below n the first nodes stay the same when addends follow."),
    known(small_first, "the smaller part first",
          "The power of two was counted from the right end. The first part is the large one."),
    known(swapped, "left and right exchanged",
          "add(right, left): for floats that is the same number, but the check's addition shows "
          "that the operands changed places. add(left, right) is asked for."),
    known(
        odd_dropped, "the odd one dropped",
        "Level by level, an addend without a neighbour was left out. It has to move up as it is."),
    known(far_pairs, "pairs far apart",
          "Addend i was paired with i + n / 2, as in some sums on graphics processors. Neighbours "
          "belong together, so that a rank with consecutive addends has whole nodes.")};

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = with_orders(learn::fixed_tree_sum),
                .right = {with_orders(solution::fixed_tree_sum), with_orders(first_form(right)),
                          with_orders(second_form(right))},
                .mistakes = mistakes,
                .hints = {"A function that calls itself is shortest: one addend is its own sum; "
                          "otherwise divide, add both parts, and add the two sums.",
                          "std::size_t half = 1; while (2 * half < n) half *= 2; is the largest "
                          "power of two below n.",
                          "const auto middle = addends.begin() + half; return add(sum of "
                          "{addends.begin(), middle}, sum of {middle, addends.end()})."}},
               count, arguments);
}
