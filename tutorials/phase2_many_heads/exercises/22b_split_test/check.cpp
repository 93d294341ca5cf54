#include <algorithm>
#include <cmath>
#include <exception>

#include "course/exercise.hpp"
#include "phase2.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::split_test_passes) split_test_passes;
}

namespace {

using Test = std::function<bool(const SplitFunction&)>;
using In = const Tensor&;

struct Fault {
  std::string name;
  SplitFunction function;
};

Tensor right(In x, Index heads) { return split_heads(x, heads); }

Tensor reshaped(In x, Index heads) {
  return reshape(x, {heads, x.size(0), x.size(1) / heads});  // (heads, n, d)
}

Tensor dealt(In x, Index heads) {
  return permute(reshape(x, {x.size(0), x.size(1) / heads, heads}), {2, 0, 1});  // (heads, n, d)
}

// Part 0 of an axis in the place of all.
Tensor first_for_all(In x, int axis) { return expand(slice(x, axis, 0, 1), x.shape()); }

Tensor reversed(In x, int axis) { return slice(x, axis, -1, -x.size(axis) - 1, -1); }

Tensor without_last_word(In x, Index heads) {
  return slice(right(x, heads), 1, 0, x.size(0) - 1);  // (heads, n - 1, d)
}

Tensor last_number_zero(In x, Index heads) {
  const Tensor made = right(x, heads);                                             // (heads, n, d)
  return where(Tensor::arange(made.size(2)) < double(made.size(2) - 1), made, 0);  // (heads, n, d)
}

std::vector<Fault> faults() {
  return {{"reshape alone: head 0 gets the first words", reshaped},
          {"numbers dealt out: a head gets every heads-th number of a row", dealt},
          {"all heads get the numbers of head 0",
           [](In x, Index heads) { return first_for_all(right(x, heads), 0); }},
          {"the heads stand in reverse order",
           [](In x, Index heads) { return reversed(right(x, heads), 0); }},
          {"all words get the numbers of word 0",
           [](In x, Index heads) { return first_for_all(right(x, heads), 1); }},
          {"the numbers of a head stand in reverse order",
           [](In x, Index heads) { return reversed(right(x, heads), 2); }},
          {"the last number of a head is 0", last_number_zero},
          {"right for two heads, reshape alone for more",
           [](In x, Index heads) { return heads == 2 ? right(x, heads) : reshaped(x, heads); }},
          {"the last word is missing", without_last_word}};
}

Attempt judged(const Test& test) {
  const auto lets_pass = [=](const SplitFunction& f) {
    try {
      return test(f);
    } catch (const std::exception&) {
      return false;  // who throws is caught
    }
  };
  return [=](const NamedTensors&) {
    std::vector<SplitFunction> planted;
    for (const Fault& fault : faults()) planted.push_back(fault.function);
    return passes(lets_pass, std::vector<SplitFunction>{right}, planted);
  };
}

// ---- Tests that people write

// 1, 2, ... with n rows
Tensor counted(Index n, Index width) {
  return reshape(Tensor::arange(n * width) + 1, {n, width});  // (n, width)
}

Test equal_to(const SplitFunction& expected, Index n, Index heads, Index d) {
  return [=](const SplitFunction& f) {
    const Tensor x = counted(n, heads * d);  // (n, heads d)
    return largest_difference(f(x, heads), expected(x, heads)) == 0;
  };
}

// By sums that the right split gives, of random numbers.
Test equal_sums(Index n, Index heads, Index d) {
  return [=](const SplitFunction& f) {
    Random random(7);
    const Tensor x = random.normal({n, heads * d}), made = f(x, heads);  // (n, heads d)
    if (made.shape() != Shape{heads, n, d}) return false;
    const Tensor powers = pow(1.5, Tensor::arange(d));  // (d)
    for (Index h = 0; h < heads; ++h) {
      const Tensor part = slice(x, 1, h * d, (h + 1) * d);       // (n, d)
      const Tensor ours = squeeze(slice(made, 0, h, h + 1), 0);  // (n, d)
      if (largest_difference(sum(part * powers, 1), sum(ours * powers, 1)) > 1e-4) return false;
    }
    return true;
  };
}

bool has_shape(const SplitFunction& f) {
  return f(Tensor::ones({4, 6}), 3).shape() == Shape{3, 4, 2};
}

bool has_three_axes_and_all_numbers(const SplitFunction& f) {
  const Tensor made = f(counted(5, 8), 2);
  return made.ndim() == 3 && made.size(0) == 2 && made.size(1) == 5 && made.numel() == 40;
}

bool ones_stay_ones(const SplitFunction& f) {
  return largest_difference(f(Tensor::ones({4, 6}), 3), Tensor::ones({3, 4, 2})) == 0;
}

bool twos_stay_twos(const SplitFunction& f) {
  const Tensor made = f(Tensor::full({3, 8}, 2), 2);  // (2, 3, 4)
  const std::vector<real> values = made.values();
  return made.numel() == 24 && std::ranges::all_of(values, [](real x) { return x == 2; });
}

bool has_all_numbers(const SplitFunction& f) {
  const Tensor x = counted(3, 8);  // (3, 8)
  std::vector<real> values = f(x, 2).values();
  std::ranges::sort(values);
  return values == x.values();
}

bool has_the_same_sum(const SplitFunction& f) {
  Random random(3);
  const Tensor x = random.normal({4, 9});  // (4, 9)
  return std::abs(sum(f(x, 3)).item() - sum(x).item()) < 1e-4;
}

bool comes_back_by_reshape(const SplitFunction& f) {
  const Tensor x = counted(4, 6);  // (4, 6)
  return largest_difference(reshape(f(x, 2), {4, 6}), x) == 0;
}

const std::vector<KnownMistake> mistakes = {
    {"it lets everything pass",
     "Every function passes this test. It has to compare with numbers that come from elsewhere; "
     "f compared with f always agrees.",
     judged([](auto&) { return true; }), judged([](const SplitFunction& f) {
       return f(counted(3, 8), 2).values() == f(counted(3, 8), 2).values();
     })},
    {"only the shape",
     "The test looks at the shape alone. reshape alone has the right shape, too; which number "
     "stands where is what counts.",
     judged(has_shape), judged(has_three_axes_and_all_numbers)},
    {"all numbers equal",
     "All numbers of x are equal, so nobody sees where they went. Take numbers that differ.",
     judged(ones_stay_ones), judged(twos_stay_twos)},
    {"which numbers, not where",
     "The test asks whether all numbers of x are still there, not where they stand. A wrong "
     "order passes.",
     judged(has_all_numbers), judged(has_the_same_sum)},
    {"one head",
     "With a single head there is nothing to cut: reshape alone is right then. Ask for two heads "
     "and for three.",
     judged(equal_to(right, 3, 1, 4)), judged(equal_to(reshaped, 5, 1, 3))},
    {"one word",
     "With a single word reshape alone is right: there is no other word whose numbers could get "
     "in. Take several words.",
     judged(equal_to(right, 1, 2, 3)), judged(equal_to(reshaped, 1, 3, 4))},
    {"always two heads",
     "The test asks for two heads, and never for more. A function that is right for two only "
     "passes.",
     judged(equal_to(right, 3, 2, 4)), judged(equal_sums(5, 2, 3))},
    {"compared with reshape",
     "The result is compared with the numbers of x in their old order. That is what reshape "
     "alone gives; the right function is refused.",
     judged(equal_to(reshaped, 3, 2, 4)), judged(comes_back_by_reshape)}};

std::vector<std::string> fault_names() {
  std::vector<std::string> names;
  for (const Fault& fault : faults()) names.push_back(fault.name);
  return names;
}

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = [](Random&, Index) { return NamedTensors{}; },
       .learner = judged(learn::split_test_passes),
       .right = {judged(solution::split_test_passes), judged(equal_to(right, 4, 3, 2)),
                 judged(equal_sums(3, 3, 4))},
       .mistakes = mistakes,
       .hints = {"Number the elements of x, call f, check the shape, then every element.",
                 "Element (h, i, c) of the result has to be element (i, h * d + c) of x. "
                 "Take several words, and more than two heads.",
                 "Three loops over h, i and c, with if (result.at({h, i, c}) != x.at({i, h "
                 "* d + c})) return false; all of it for 2 and for 3 heads."},
       .faults = fault_names()},
      count, arguments);
}
