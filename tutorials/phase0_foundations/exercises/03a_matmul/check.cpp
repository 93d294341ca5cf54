#include "forms.hpp"
#include "phase0.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::matmul_forward) matmul_forward;
}

namespace {

using Product = std::function<decltype(learn::matmul_forward)>;

Attempt multiplied(const Product& product) {
  return squares_first(attempt("c", product), attempt("c", Product(solution::matmul_forward)));
}

// Number by number: what each step of the inner loop multiplies.
Product by_loops(double (*factors)(const Tensor& a, const Tensor& b, Index i, Index j, Index k)) {
  return [=](const Tensor& a, const Tensor& b) {
    return filled(a.size(0), b.size(1), [&](Index i, Index j) {
      return sum_of(a.size(1), [&](Index k) { return factors(a, b, i, j, k); });
    });
  };
}

// The sum that is never set back to 0, or only where a row begins.
Product running(bool row_begins_anew) {
  return [=](const Tensor& a, const Tensor& b) {
    double sum = 0;
    return filled(a.size(0), b.size(1), [&](Index i, Index j) {
      if (row_begins_anew && j == 0) sum = 0;
      for (Index k = 0; k < a.size(1); ++k) sum += double{a.at({i, k})} * double{b.at({k, j})};
      return sum;
    });
  };
}

Tensor last_product(const Tensor& a, const Tensor& b) {
  const Index k = a.size(1);
  return matmul(slice(a, 1, k - 1, k), slice(b, 0, k - 1, k));  // (m, n)
}

Tensor sums_along_rows(const Tensor& a, const Tensor& b) { return cumsum(matmul(a, b), 1); }

Tensor sums_along_all(const Tensor& a, const Tensor& b) {
  const Tensor c = matmul(a, b);                           // (m, n)
  return reshape(cumsum(reshape(c, {-1}), 0), c.shape());  // (m, n)
}

// In the order i-k-j: adding rows of b.
Tensor by_rows(const Tensor& a, const Tensor& b) {
  Tensor c = Tensor::zeros({a.size(0), b.size(1)});  // (m, n)
  for (Index i = 0; i < a.size(0); ++i) {
    for (Index k = 0; k < a.size(1); ++k) {
      for (Index j = 0; j < b.size(1); ++j) {
        c.data()[i * b.size(1) + j] += a.at({i, k}) * b.at({k, j});
      }
    }
  }
  return c;
}

NamedTensors inputs(Random& random, Index size) {
  const Index s = size + 1, n = s + 1 + (size > 1 ? random.randint(2) : 0), m = s + 2, k = s;
  return {{"a", random.normal({s, s}) + 0.5},
          {"b", random.normal({s, s}) + 0.5},
          {"a, not square", random.normal({m, k})},
          {"b, not square", random.normal({k, n})}};
}

const std::vector<KnownMistake> mistakes = {
    {"b read along its rows",
     "Row i of a is multiplied by row j of b. It has to be column j: that is b at (k, j), and not "
     "at (j, k). What came out is a times the transpose of b.",
     multiplied(by_loops([](const Tensor& a, const Tensor& b, Index i, Index j, Index k) {
       return double{a.at({i, k})} * double{b.at({j, k})};
     })),
     multiplied([](const Tensor& a, const Tensor& b) { return matmul(a, transpose(b)); })},
    {"a read along its columns",
     "Column i of a is taken where it has to be row i: that is a at (i, k), and not at (k, i). "
     "What came out is the transpose of a times b.",
     multiplied(by_loops([](const Tensor& a, const Tensor& b, Index i, Index j, Index k) {
       return double{a.at({k, i})} * double{b.at({k, j})};
     })),
     multiplied([](const Tensor& a, const Tensor& b) { return matmul(transpose(a), b); })},
    {"factors exchanged", "This is b times a. The order of a matrix product counts.",
     multiplied(by_loops([](const Tensor& a, const Tensor& b, Index i, Index j, Index k) {
       return double{a.at({k, j})} * double{b.at({i, k})};
     })),
     multiplied([](const Tensor& a, const Tensor& b) { return matmul(b, a); })},
    {"products overwritten",
     "Each product replaces the one before, so that only the last k is left. They have to be "
     "added: += and not =.",
     multiplied(by_loops([](const Tensor& a, const Tensor& b, Index i, Index j, Index k) {
       return k + 1 < a.size(1) ? 0 : double{a.at({i, k})} * double{b.at({k, j})};
     })),
     multiplied(last_product)},
    {"columns left out",
     "Square matrices are right, but otherwise the last columns of c are 0: the loop over j ends "
     "at "
     "k, the number of rows of b. c has as many columns as b: b.size(1).",
     multiplied(by_loops([](const Tensor& a, const Tensor& b, Index i, Index j, Index k) {
       return j < b.size(0) ? double{a.at({i, k})} * double{b.at({k, j})} : 0;
     })),
     multiplied([](const Tensor& a, const Tensor& b) {
       return matmul(a, b) * (Tensor::arange(b.size(1)) < double(b.size(0)));
     })},
    {"sum begins once a row",
     "The sum is set to 0 once for each row of c, so each element still contains those left of "
     "it. It has to begin at 0 for every element: inside the loop over j.",
     multiplied(running(true)), multiplied(sums_along_rows)},
    {"sum begins only once",
     "The sum is set to 0 before all loops, so each element still contains all those before it. "
     "It has to begin at 0 for every element: inside the loop over j.",
     multiplied(running(false)), multiplied(sums_along_all)}};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = multiplied(learn::matmul_forward),
       .right = {multiplied(solution::matmul_forward), multiplied(by_rows),
                 multiplied([](const Tensor& a, const Tensor& b) { return matmul(a, b); })},
       .mistakes = mistakes,
       .hints = {"Three loops, one in the other: over i, over j, and inside over k.",
                 "Inside the loop over j, begin a sum at 0; the loop over k adds to it; "
                 "after that loop the sum is the element (i, j).",
                 "for k: sum += a.at({i, k}) * b.at({k, j}); then c.set({i, j}, sum);"}},
      count, arguments);
}
