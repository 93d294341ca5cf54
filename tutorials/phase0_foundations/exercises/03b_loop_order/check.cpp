#include "forms.hpp"
#include "phase0.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::matmul_accumulate) matmul_accumulate;
}

namespace {

using Accumulate = std::function<decltype(learn::matmul_accumulate)>;
using Sum = std::function<Tensor(const Tensor& c, const Tensor& a, const Tensor& b)>;

Attempt on_a_copy(const Accumulate& accumulate) {
  return [=](const NamedTensors& in) -> NamedTensors {
    Tensor c = in[0].value.clone();  // (m, n)
    accumulate(c, in[1].value, in[2].value);
    return {{"c", c}};
  };
}

Attempt added(const Accumulate& accumulate) {
  return squares_first(on_a_copy(accumulate), on_a_copy(solution::matmul_accumulate));
}

// What c is afterwards, by the library.
Attempt becomes(const Sum& sum) {
  return added([=](Tensor& c, const Tensor& a, const Tensor& b) { c = sum(c, a, b); });
}

// What each step makes of c's number and the two factors, in the order i-k-j.
Accumulate by_steps(double (*step)(double c, double a, double b, Index k)) {
  return [=](Tensor& c, const Tensor& a, const Tensor& b) {
    for (Index i = 0; i < a.size(0); ++i) {
      for (Index k = 0; k < a.size(1); ++k) {
        for (Index j = 0; j < b.size(1); ++j) {
          const double now = step(c.at({i, j}), a.at({i, k}), b.at({k, j}), k);
          c.set({i, j}, now);
        }
      }
    }
  };
}

// In the order i-j-k: a sum that begins somewhere, and becomes c's number or is added to it.
void counted_twice(Tensor& c, const Tensor& a, const Tensor& b) {
  for (Index i = 0; i < a.size(0); ++i) {
    for (Index j = 0; j < b.size(1); ++j) {
      double sum = c.at({i, j});
      for (Index k = 0; k < a.size(1); ++k) sum += double{a.at({i, k})} * double{b.at({k, j})};
      c.set({i, j}, double{c.at({i, j})} + sum);
    }
  }
}

void into_a_copy(Tensor& c, const Tensor& a, const Tensor& b) {
  Tensor own = c.clone();  // (m, n)
  solution::matmul_accumulate(own, a, b);
}

Tensor last_product(const Tensor&, const Tensor& a, const Tensor& b) {
  const Index k = a.size(1);
  return matmul(slice(a, 1, k - 1, k), slice(b, 0, k - 1, k));  // (m, n)
}

void b_transposed(Tensor& c, const Tensor& a, const Tensor& b) {
  for (Index i = 0; i < c.numel(); ++i) {
    const Index row = i / b.size(1), column = i % b.size(1);
    for (Index k = 0; k < a.size(1); ++k) c.data()[i] += a.at({row, k}) * b.at({column, k});
  }
}

NamedTensors inputs(Random& random, Index size) {
  const Index s = size + 1, n = s + 1 + (size > 1 ? random.randint(2) : 0), m = s + 2;
  return {{"c", random.normal({s, s}, 2)},          {"a", random.normal({s, s}) + 0.5},
          {"b", random.normal({s, s}) + 0.5},       {"c, not square", random.normal({m, n})},
          {"a, not square", random.normal({m, s})}, {"b, not square", random.normal({s, n})}};
}

const std::vector<KnownMistake> mistakes = {
    {"c cleared", "The product is right, but what c held before is gone. It has to be added to.",
     becomes([](const Tensor&, const Tensor& a, const Tensor& b) { return matmul(a, b); }),
     added(
         by_steps([](double c, double a, double b, Index k) { return (k == 0 ? 0 : c) + a * b; }))},
    {"overwritten by each k",
     "Each k writes over the row of c, so that only the last k is left, and what c held is gone. "
     "Every product has to be added: += and not =.",
     added(by_steps([](double, double a, double b, Index) { return a * b; })),
     becomes(last_product)},
    {"c unchanged",
     "c is what it was. The sums went to a tensor of your own, or nowhere; c itself has to change: "
     "write to c.data() or with c.set().",
     added(into_a_copy), becomes([](const Tensor& c, const Tensor&, const Tensor&) { return c; })},
    {"c counted twice",
     "What c held before is in the result twice: the sum begins with it, and then is added to it.",
     added(counted_twice), becomes([](const Tensor& c, const Tensor& a, const Tensor& b) {
       return c * 2 + matmul(a, b);
     })},
    {"b read along its rows",
     "b is read at (j, k) where it has to be (k, j): what is added is a times the transpose of b. "
     "In this order of loops, row k of b is one walk through memory.",
     added(b_transposed), becomes([](const Tensor& c, const Tensor& a, const Tensor& b) {
       return c + matmul(a, transpose(b));
     })}};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = added(learn::matmul_accumulate),
       .right = {added(solution::matmul_accumulate),
                 becomes([](const Tensor& c, const Tensor& a, const Tensor& b) {
                   return c + matmul(a, b);
                 }),
                 added(by_steps([](double c, double a, double b, Index) { return c + a * b; }))},
       .mistakes = mistakes,
       .hints = {"Three loops: over i, inside it over k, and innermost over j. Nothing is "
                 "set to 0 anywhere.",
                 "Read a_ik once, before the loop over j; there row i of c and row k of b "
                 "are walked side by side.",
                 "c_row[j] += factor * b_row[j], where c_row = c.data() + i * n, b_row = "
                 "b.data() + k * n and factor = a.data()[i * a.size(1) + k]."}},
      count, arguments);
}
