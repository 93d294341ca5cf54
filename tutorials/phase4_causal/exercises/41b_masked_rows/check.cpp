#include <algorithm>
#include <limits>
#include <vector>

#include "phase4_check.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::masked_softmax) masked_softmax;
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using Masked = std::function<decltype(learn::masked_softmax)>;

Attempt weighed(Masked masked) { return attempt("weights", std::move(masked)); }

enum Way { right, by_the_book, low, lower_by, zero, after, flipped };

double score_of(Way way, bool open, double score) {
  if (open || way == after) return score;
  return way == low ? -1e9 : way == lower_by ? score - 1e9 : way == zero ? 0 : -infinity;
}

// Number by number, in double.
Masked by_loops(Way way) {
  return [=](const Tensor& scores, const Tensor& allowed) {
    const Index n = scores.size(0), m = scores.size(1);
    Tensor result = Tensor::zeros({n, m});  // (n, m)
    for (Index i = 0; i < n; ++i) {
      std::vector<double> row;
      const auto open = [&](Index j) { return (allowed.at({i, j}) != 0) != (way == flipped); };
      for (Index j = 0; j < m; ++j) {
        row.push_back(score_of(way, open(j), double{scores.at({i, j})}));
      }
      const double largest = *std::max_element(row.begin(), row.end());
      if (largest == -infinity && way != by_the_book) continue;
      double sum = 0;
      for (double& x : row) sum += x = std::exp(x - largest);
      for (Index j = 0; j < m; ++j) {
        if (way != after || open(j)) result.set({i, j}, row[static_cast<std::size_t>(j)] / sum);
      }
    }
    return result;
  };
}

// softmax by the book: no case for a row of -inf.
Tensor book(const Tensor& scores) {
  const Tensor powers = exp(scores - max(scores, -1, true));  // (n, m)
  return powers / sum(powers, -1, true);
}

// What lowering by 1e9 gives where the numbers have room for it: rows without a key keep their
// weights. (In 32 bits -1e9 + score is -1e9.)
Tensor lowered(const Tensor& scores, const Tensor& allowed) {
  const Tensor any = max(allowed, -1, true);                       // (n, 1)
  return softmax(where(maximum(allowed, 1 - any), scores, -1e9));  // (n, m)
}

Tensor divided_late(const Tensor& scores, const Tensor& allowed) {
  const Tensor powers = exp(scores) * allowed;  // (n, m)
  return powers / maximum(sum(powers, -1, true), 1e-30);
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, m = size + 1 + random.randint(2);
  Tensor allowed = Tensor::zeros({n, m});  // (n, m); the last row stays empty
  for (Index i = 0; i + 1 < n; ++i) {
    const std::vector<Index> order = random.permutation(m);
    const Index seen =
        i == 0 ? m - 1
               : 1 + random.randint(m - 1);  // a key or more is seen, and one or more hidden
    for (Index j = 0; j < seen; ++j) allowed.set({i, order[static_cast<std::size_t>(j)]}, 1);
  }
  return {{"scores", random.normal({n, m}, 1, 2)}, {"allowed", allowed}};
}

const std::vector<KnownMistake> mistakes = {
    {"-1e9 in place of -inf",
     "Hidden scores became -1e9 (or another very low number). A row with all keys hidden then "
     "attends evenly to everything that it must not see; its weights have to be zeros.",
     weighed(by_loops(low)), weighed([](const Tensor& scores, const Tensor& allowed) {
       return softmax(where(allowed, scores, -1e9));
     })},
    {"lower by 1e9",
     "Hidden scores were lowered by the same large number. In a row with all keys hidden this "
     "changes nothing: it gets the weights that it has without a mask, in place of zeros.",
     weighed(by_loops(lower_by)), weighed(lowered)},
    {"NaN where nothing is seen",
     "A row with all keys hidden is divided by 0, or has -inf - (-inf): both are not a number, "
     "and NaN spreads through the whole model. Its weights have to be zeros.",
     weighed(by_loops(by_the_book)), weighed([](const Tensor& scores, const Tensor& allowed) {
       return book(where(allowed, scores, -infinity));
     })},
    {"mask after softmax",
     "Weights were computed over all keys, and hidden ones set to 0 afterwards. The rows no "
     "longer sum to 1: what lay on hidden keys is lost.",
     weighed(by_loops(after)), weighed([](const Tensor& scores, const Tensor& allowed) {
       return softmax(scores) * allowed;
     })},
    {"score 0 for hidden keys",
     "Hidden scores became 0. That is a score like any other: exp(0) = 1, so hidden keys are "
     "still seen, and where the others are negative they get most.",
     weighed(by_loops(zero)), weighed([](const Tensor& scores, const Tensor& allowed) {
       return softmax(scores * allowed);
     })},
    {"polarity flipped",
     "The keys with a 1 were hidden, those with a 0 seen. Here 1 means: may attend.",
     weighed(by_loops(flipped)), weighed([](const Tensor& scores, const Tensor& allowed) {
       return softmax(masked_fill(scores, allowed, -infinity));
     })},
    {"softmax over the queries",
     "The columns sum to 1, the rows do not: each query has to share its weight among the keys, "
     "so softmax runs along a row.",
     weighed([](const Tensor& scores, const Tensor& allowed) {
       return transpose(by_loops(right)(transpose(scores), transpose(allowed)));
     }),
     weighed([](const Tensor& scores, const Tensor& allowed) {
       return softmax(where(allowed, scores, -infinity), 0);
     })}};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = weighed(learn::masked_softmax),
       .right = {weighed(solution::masked_softmax), weighed(by_loops(right)), weighed(divided_late),
                 weighed([](const Tensor& scores, const Tensor& allowed) {
                   return softmax(where(allowed, scores, -infinity));
                 })},
       .mistakes = mistakes,
       .hints = {"One row at a time: its largest visible score, then the powers, then their sum.",
                 "A hidden key takes part in none of the three. If the sum is 0, leave the zeros.",
                 "In the loop over j: if (allowed.at({i, j}) == 0) continue; then "
                 "std::exp(score - largest), which is written and added to the sum. In a last loop "
                 "divide by the sum, if it is not 0."}},
      count, arguments);
}
