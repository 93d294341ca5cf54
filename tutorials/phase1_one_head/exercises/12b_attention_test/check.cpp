#include <cmath>
#include <exception>

#include "course/exercise.hpp"
#include "phase1.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::attention_test_passes) attention_test_passes;
}

namespace {

using Test = std::function<bool(const AttentionFunction&)>;

struct Fault {
  std::string name;
  AttentionFunction function;
};

Tensor scores_of(const Tensor& q, const Tensor& k, double power = 0.5) {
  return matmul(q, transpose(k)) / std::pow(static_cast<double>(k.size(1)), power);  // (m, n)
}

Tensor right(const Tensor& q, const Tensor& k, const Tensor& v) {
  return matmul(softmax(scores_of(q, k)), v);  // (m, d)
}

Tensor not_transposed(const Tensor& q, const Tensor& k, const Tensor& v) {
  return k.size(0) == k.size(1) ? right(q, transpose(k), v) : right(q, k, v);  // (m, d)
}

Tensor not_normalised(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor scores = scores_of(q, k);                        // (m, n)
  return matmul(exp(scores - max(scores, -1, true)), v) / 2.0;  // (m, d)
}

Tensor first_for_all(const Tensor& q, const Tensor& k, const Tensor& v) {
  return right(expand(slice(q, 0, 0, 1), q.shape()), k, v);  // (m, d)
}

Tensor without_last_key(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Index n = k.size(0) - 1;
  return right(q, slice(k, 0, 0, n), slice(v, 0, 0, n));  // (m, d)
}

using In = const Tensor&;

std::vector<Fault> faults() {
  return {
      {"the scores are not scaled",
       [](In q, In k, In v) { return matmul(softmax(scores_of(q, k, 0)), v); }},
      {"the scores are divided by d, not by its root",
       [](In q, In k, In v) { return matmul(softmax(scores_of(q, k, 1)), v); }},
      {"softmax runs over the queries, not over the keys",
       [](In q, In k, In v) { return matmul(softmax(scores_of(q, k), 0), v); }},
      {"the weights mix the keys, not the values", [](In q, In k, In) { return right(q, k, k); }},
      {"the keys are not transposed where their matrix is square", not_transposed},
      {"the weights of a query do not sum to 1", not_normalised},
      {"all queries get the output of the first", first_for_all},
      {"the last key is left out", without_last_key},
      {"the output has an axis too many: (1, m, d)",
       [](In q, In k, In v) { return unsqueeze(right(q, k, v), 0); }}};
}

Attempt judged(const Test& test) {
  const auto lets_pass = [=](const AttentionFunction& f) {
    try {
      return test(f);
    } catch (const std::exception&) {
      return false;  // who throws is caught
    }
  };
  return [=](const NamedTensors&) {
    std::vector<AttentionFunction> planted;
    for (const Fault& fault : faults()) planted.push_back(fault.function);
    return passes(lets_pass, std::vector<AttentionFunction>{right}, planted);
  };
}

// ---- Tests that people write

// Whether f is right on these inputs; only in the first row, or also in all others.
bool is_right(const AttentionFunction& f, In q, In k, In v, Index rows) {
  return largest_difference(slice(f(q, k, v), 0, 0, rows), slice(right(q, k, v), 0, 0, rows)) <
         1e-4;
}

Test with_one_input(Index n, Index d, std::uint64_t seed) {
  return [=](const AttentionFunction& f) {
    Random random(seed);
    const Tensor x = random.normal({n, d});  // (n, d)
    return is_right(f, x, x, x, n);
  };
}

// Only the first `rows` queries of m are looked at, with inputs of two shapes.
Test with_rows(Index m, Index n, Index rows, std::uint64_t seed) {
  return [=](const AttentionFunction& f) {
    Random random(seed);
    for (const Index d : {n, n + 1}) {
      const Tensor q = random.normal({m, d}), k = random.normal({n, d});  // (m, d), (n, d)
      if (!is_right(f, q, k, random.normal({n, d}), rows)) return false;
    }
    return true;
  };
}

bool shape_is_right(const AttentionFunction& f) {
  Random random(1);
  const Tensor q = random.normal({3, 4}), k = random.normal({5, 4});  // (3, 4), (5, 4)
  return f(q, k, k).shape() == q.shape();
}

bool agrees_with_itself(const AttentionFunction& f) {
  Random random(1);
  const Tensor x = random.normal({3, 4});  // (3, 4)
  return largest_difference(f(x, x, x), f(x, x, x)) == 0;
}

// Values of ones: the output is the sum of the weights.
bool rows_sum_to_1(const AttentionFunction& f) {
  Random random(3);
  const Tensor q = random.normal({4, 4}), k = random.normal({4, 4});  // (4, 4)
  return largest_difference(f(q, k, Tensor::ones({4, 4})), Tensor::ones({4, 4})) < 1e-4;
}

bool equal_values_stay(const AttentionFunction& f) {
  Random random(4);
  const Tensor q = random.normal({3, 5}), k = random.normal({6, 5});  // (3, 5), (6, 5)
  const Tensor out = f(q, k, Tensor::full({6, 5}, 2));                // (3, 5)
  for (const real x : out.values()) {
    if (std::abs(x - 2) > 1e-3) return false;
  }
  return out.ndim() == 2;
}

// Equal to the last bit with numbers that were computed in another order.
bool has_equal_bits(const AttentionFunction& f) {
  Random random(5);
  const Tensor q = random.normal({20, 20}), k = random.normal({30, 20});  // (20, 20), (30, 20)
  const Tensor v = random.normal({30, 20});                               // (30, 20)
  const Tensor expected = right(q * 0.1, k * 10, v);                      // (20, 20)
  return f(q, k, v).values() == expected.values();
}

Test shape_of(Index m, Index n, Index d) {
  return [=](const AttentionFunction& f) {
    const Tensor out = f(Tensor::ones({m, d}), Tensor::ones({n, d}), Tensor::ones({n, d}));
    return out.ndim() == 2 && out.size(0) == m && out.size(1) == d;
  };
}

const std::vector<KnownMistake> mistakes = {
    {"it lets everything pass",
     "Every function passes this test. It has to compare with numbers that come from elsewhere; "
     "f compared with f always agrees.",
     judged([](auto&) { return true; }), judged(agrees_with_itself)},
    {"only the shape",
     "The test looks at the shape alone. All faults but one have the right shape and wrong "
     "numbers.",
     judged(shape_is_right), judged(shape_of(2, 3, 5))},
    {"one tensor for q, k and v",
     "f gets the same tensor three times. Then nobody sees whether it mixes keys or values. Give "
     "it three different ones, also with as many keys as they have numbers.",
     judged(with_one_input(3, 4, 1)), judged(with_one_input(5, 2, 9))},
    {"one query and one key",
     "With a single key its weight is always 1, whatever its score: a wrong scale, for example, "
     "cannot show. Take several queries and keys.",
     judged(with_rows(1, 1, 1, 1)), judged(with_rows(1, 1, 1, 8))},
    {"only the first row",
     "Only the output of the first query is looked at. Who gives this output to all queries "
     "passes.",
     judged(with_rows(3, 4, 1, 2)), judged(with_rows(5, 3, 1, 7))},
    {"only the sum of the weights",
     "The values are all equal, so the output only tells whether the weights of a query sum to "
     "1. Wrong weights can do that, too.",
     judged(rows_sum_to_1), judged(equal_values_stay)},
    {"no function passes",
     "The right function is refused as well. Are the numbers compared bit by bit? Sums in "
     "another order differ by rounding: allow a difference of 1e-4, say.",
     judged([](auto&) { return false; }), judged(has_equal_bits)}};

std::vector<std::string> fault_names() {
  std::vector<std::string> names;
  for (const Fault& fault : faults()) names.push_back(fault.name);
  return names;
}

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = [](Random&, Index) { return NamedTensors{}; },
                .learner = judged(learn::attention_test_passes),
                .right = {judged(solution::attention_test_passes), judged(with_rows(3, 4, 3, 1)),
                          judged(with_rows(2, 5, 2, 6))},
                .mistakes = mistakes,
                .hints = {"Draw q, k and v at random, and compare f(q, k, v) with the library's "
                          "attention(q, k, v).output: shape and numbers.",
                          "Use several queries, more than one key, d above 1, and three different "
                          "tensors. Do it twice: with n = d, and with n different from d.",
                          "In a loop over sizes: if (f(q, k, v).shape() != q.shape()) return "
                          "false; if (largest_difference(f(q, k, v), attention(q, k, v).output) > "
                          "1e-4) return false; at the end return true."},
                .faults = fault_names()},
               count, arguments);
}
