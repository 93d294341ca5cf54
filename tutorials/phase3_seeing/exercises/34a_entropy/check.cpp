#include <cmath>
#include <utility>
#include <vector>

#include "course/exercise.hpp"
#include "phase3.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::entropy_of_rows) entropy_of_rows;
}

namespace {

using Entropy = std::function<decltype(learn::entropy_of_rows)>;

Attempt measured(Entropy entropy) { return attempt("entropy", std::move(entropy)); }

double nats(double x) { return x > 0 ? -x * std::log(x) : 0; }

// The sum over each row of a function of one weight, times a factor that depends on m.
Entropy by_loops(double (*part)(double weight), double (*factor)(double m) = nullptr) {
  return [=](const Tensor& weights) {
    Tensor result = Tensor::zeros({weights.size(0)});  // (n)
    for (Index j = 0; j < weights.size(1); ++j) {
      for (Index i = 0; i < weights.size(0); ++i) {
        const double by = factor ? factor(double(weights.size(1))) : 1;
        result.set({i}, double{result.at({i})} + by * part(double{weights.at({i, j})}));
      }
    }
    return result;
  };
}

// The same with tensors; 0 becomes 1, whose logarithm is 0.
Tensor by_library(const Tensor& weights) {
  return -sum(weights * log(where(weights, weights, 1)), -1);  // (n)
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, m = size + 1 + random.randint(2);
  Tensor scores = random.normal({n, m}, 0, 1.5);  // (n, m)
  for (Index i = 0; i + 1 < n; ++i) {             // hidden keys; in row 0 all but one
    for (Index j = i + 1; j < m; ++j) scores.set({i, j}, -HUGE_VAL);
  }
  return {{"weights", softmax(scores)}};
}

const std::vector<KnownMistake> mistakes = {
    {"NaN from 0 ln 0",
     "ln 0 is -infinity, and 0 times that is not a number. Every row with a hidden key becomes "
     "NaN so: leave weights of 0 out.",
     measured(by_loops([](double x) { return -x * std::log(x); })),
     measured([](const Tensor& weights) { return -sum(weights * log(weights), -1); })},
    {"in bits",
     "The logarithm is to the base 2, so this is the entropy in bits, 1.44 times as large. Asked "
     "for are nats: std::log.",
     measured(by_loops([](double x) { return x > 0 ? -x * std::log2(x) : 0; })),
     measured([](const Tensor& weights) { return by_library(weights) / std::log(2.0); })},
    {"sign forgotten",
     "The minus is missing. The logarithm of a weight is negative, the entropy 0 or more.",
     measured(by_loops([](double x) { return -nats(x); })),
     measured([](const Tensor& weights) { return -by_library(weights); })},
    {"of the columns",
     "The sum runs along the columns. A row is what one query does, and the entropy is that of "
     "a query.",
     measured([](const Tensor& weights) { return by_loops(nats)(transpose(weights)); }),
     measured([](const Tensor& weights) { return by_library(transpose(weights)); })},
    {"mean in place of the sum",
     "The sum was divided by the number of keys. Even weights over m keys have the entropy ln m, "
     "not (ln m) / m.",
     measured(by_loops(nats, [](double m) { return 1 / m; })),
     measured([](const Tensor& weights) { return by_library(weights) / double(weights.size(1)); })},
    {"divided by ln m",
     "This is the entropy as a share of that of even weights over all keys. It is another "
     "measure, and where keys are hidden it would need their visible number.",
     measured(by_loops(nats, [](double m) { return 1 / std::log(m); })),
     measured([](const Tensor& weights) {
       return by_library(weights) / std::log(double(weights.size(1)));
     })},
    {"logarithms not weighted",
     "The logarithms were added up as they are. Each has to be multiplied by its weight: a key "
     "that is hardly looked at counts hardly.",
     measured(by_loops([](double x) { return x > 0 ? -std::log(x) : 0; })),
     measured([](const Tensor& weights) { return -sum(log(where(weights, weights, 1)), -1); })},
};

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = measured(learn::entropy_of_rows),
                .right = {measured(solution::entropy_of_rows), measured(by_loops(nats)),
                          measured(by_library), measured([](const Tensor& weights) {
                            return attention_entropy(weights);
                          })},
                .mistakes = mistakes,
                .hints = {"Two loops: over the rows i, in it over the keys j, with a sum.",
                          "A weight of 0 adds nothing. The others add -weight * std::log(weight).",
                          "if (weight > 0) sum -= weight * std::log(weight);"}},
               count, arguments);
}
