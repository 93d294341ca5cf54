#include <algorithm>
#include <cmath>
#include <limits>

#include "forms.hpp"
#include "phase0.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::softmax_forward) softmax_forward;
}

namespace {

using Softmax = std::function<decltype(learn::softmax_forward)>;

Attempt weighted(const Softmax& softmax) { return attempt("weights", softmax); }

// Of x (rows, columns): the largest number of row i, not below `least`.
double largest(const Tensor& x, Index i, double least = -std::numeric_limits<double>::infinity()) {
  for (Index j = 0; j < x.size(1); ++j) least = std::max(least, double{x.at({i, j})});
  return least;
}

// By loops, in double: the formula with what `shift` says for row i in place of its maximum.
Softmax shifted(double (*shift)(const Tensor& x, Index i)) {
  return [=](const Tensor& x) {
    return filled(x.size(0), x.size(1), [&](Index i, Index j) {
      const double m = shift(x, i);
      return std::exp(double{x.at({i, j})} - m) /
             sum_of(x.size(1), [&](Index k) { return std::exp(double{x.at({i, k})} - m); });
    });
  };
}

// The same by the library's exp and sum.
Softmax by_library(Tensor (*shift)(const Tensor& x)) {
  return [=](const Tensor& x) {
    const Tensor powers = exp(x - shift(x));  // (n, m)
    return powers / sum(powers, -1, true);    // (n, m)
  };
}

// Softmax of x turned, turned back.
Softmax of_columns(const Softmax& of_rows) {
  return [=](const Tensor& x) {
    return transpose(of_rows(transpose(x).contiguous())).contiguous();  // (n, m)
  };
}

double of_matrix(const Tensor& x, Index) {
  double result = largest(x, 0);
  for (Index i = 1; i < x.size(0); ++i) result = largest(x, i, result);
  return result;
}

// The sum of each row contains those of the rows above.
Softmax one_sum(bool by_hand) {
  return [=](const Tensor& x) {
    const Tensor powers = exp(x - max(x, -1, true));  // (n, m)
    if (!by_hand) return powers / cumsum(sum(powers, -1, true), 0);
    double sum = 0;
    Tensor y = powers.clone();  // (n, m)
    for (Index i = 0; i < x.size(0); ++i) {
      for (Index j = 0; j < x.size(1); ++j) sum += powers.at({i, j});
      for (Index j = 0; j < x.size(1); ++j) y.set({i, j}, y.at({i, j}) / sum);
    }
    return y;
  };
}

NamedTensors inputs(Random& random, Index size) {
  if (size == 1) return {{"scores", random.normal({2, 2})}};
  const Index n = size == 4 ? 5 : 2 + random.randint(3), m = size + 1;
  const Tensor offsets({5, 1}, {0, 1000, 0, -1000, 0});             // (5, 1)
  Tensor scores = random.normal({n, m}) + slice(offsets, 0, 0, n);  // (n, m)
  scores.set({0, 0}, -2000);  // a row of far apart scores: only their maximum keeps exp finite
  return {{"scores", scores}};
}

const std::vector<KnownMistake> mistakes = {
    {"no maximum",
     "Nothing is subtracted from the scores. exp of 1000 is infinite, and infinity over infinity "
     "is not a number; exp of -1000 is 0, and a row of these is 0 over 0.",
     weighted(shifted([](const Tensor&, Index) { return 0.0; })),
     weighted(by_library([](const Tensor& x) { return Tensor::zeros({x.size(0), 1}); }))},
    {"columns",
     "The columns sum to 1, the rows do not: softmax ran along the wrong axis. The sum and the "
     "maximum are those of a row; j and not i runs in their loops.",
     weighted(of_columns(shifted([](const Tensor& x, Index i) { return largest(x, i); }))),
     weighted([](const Tensor& x) { return softmax(x, 0); })},
    {"columns, and no maximum",
     "Two things at once. The sums are those of columns, and they have to be those of rows. And "
     "no maximum is subtracted, so that large scores become infinite.",
     weighted(of_columns(shifted([](const Tensor&, Index) { return 0.0; }))),
     weighted([](const Tensor& x) { return exp(x) / sum(exp(x), 0, true); })},
    {"maximum of the whole matrix",
     "The maximum that is subtracted is that of all rows together. A row whose scores are far "
     "below it becomes 0 over 0: each row needs its own maximum.",
     weighted(shifted(of_matrix)), weighted(by_library([](const Tensor& x) { return max(x); }))},
    {"minimum in place of the maximum",
     "The smallest score of the row is subtracted, so all differences are 0 or above. Where scores "
     "lie far apart, exp of the largest is infinite. Subtract the maximum.",
     weighted(shifted([](const Tensor& x, Index i) { return -largest(-x, i); })),
     weighted(by_library([](const Tensor& x) { return min(x, -1, true); }))},
    {"maximum begins at 0",
     "The search for the largest score begins at 0, so that it finds 0 in a row of negative "
     "scores. Begin at the first score of the row.",
     weighted(shifted([](const Tensor& x, Index i) { return largest(x, i, 0); })),
     weighted(by_library([](const Tensor& x) { return relu(max(x, -1, true)); }))},
    {"sum begins only once",
     "The sum is not set back to 0 for each row, so that a row is divided by its own sum and those "
     "of all rows above.",
     weighted(one_sum(true)), weighted(one_sum(false))}};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = weighted(learn::softmax_forward),
       .right = {weighted(solution::softmax_forward),
                 weighted([](const Tensor& x) { return softmax(x); }),
                 weighted(shifted([](const Tensor& x, Index i) { return largest(x, i); }))},
       .mistakes = mistakes,
       .hints =
           {"One loop over the rows i; inside it three loops over j, one after the other.",
            "The first finds the largest score of the row; the second computes the "
            "exponentials and adds them up; the third divides by the sum.",
            "y[j] = std::exp(x[j] - largest); sum += y[j]; and afterwards y[j] /= sum, where x "
            "= scores.data() + i * m."}},
      count, arguments);
}
