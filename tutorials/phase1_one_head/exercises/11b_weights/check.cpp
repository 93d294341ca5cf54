#include <algorithm>
#include <cmath>

#include "course/exercise.hpp"
#include "number_by_number.hpp"
#include "phase1.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::weights_of_scores) weights_of_scores;
}

namespace {

using Weights = std::function<Tensor(const Tensor&)>;

// Scores far above 0 and far below it are two inputs, as they fail in different ways.
Attempt weighed(const Weights& weights) {
  return [=](const NamedTensors& in) -> NamedTensors {
    return {{"weights", weights(in[0].value)}, {"weights of low scores", weights(in[1].value)}};
  };
}

enum class Largest { right, none, from_zero };
enum class Divisor { all, none, so_far, scores };

Weights by_loops(Largest which, Divisor divisor) {
  return [=](const Tensor& scores) {
    const Numbers s(scores);
    double largest = which == Largest::right ? s(0, 0) : 0;
    for (Index j = 0; j < s.columns() && which != Largest::none; ++j) {
      largest = std::max(largest, s(0, j));
    }
    Numbers weights(1, s.columns());
    double sum = 0;
    for (Index j = 0; j < s.columns(); ++j) {
      weights(0, j) = std::exp(s(0, j) - largest);
      sum += weights(0, j);
      if (divisor == Divisor::so_far) weights(0, j) /= sum;
    }
    for (Index j = 0; j < s.columns() && divisor == Divisor::all; ++j) weights(0, j) /= sum;
    return weights.tensor(scores.shape());  // (n)
  };
}

Weights by_library(Largest which, Divisor divisor) {
  return [=](const Tensor& scores) {
    const Tensor largest = which == Largest::right       ? max(scores)
                           : which == Largest::from_zero ? maximum(max(scores), 0)
                                                         : Tensor(0);  // ()
    const Tensor e = exp(scores - largest);                            // (n)
    if (divisor == Divisor::scores) return scores / sum(scores);       // (n)
    if (divisor == Divisor::so_far) return e / cumsum(e, 0);           // (n)
    return divisor == Divisor::none ? e : e / sum(e);                  // (n)
  };
}

Tensor shares_of_scores(const Tensor& scores) {
  const Numbers s(scores);
  const double sum = total(s.columns(), [&](Index j) { return s(0, j); });
  return matrix(1, s.columns(), [&](Index, Index j) { return s(0, j) / sum; })
      .tensor(scores.shape());
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1 + random.randint(2);
  const double far = size > 2 ? 1000 : size;
  return {{"scores", random.normal({n}) + far}, {"low scores", random.normal({n}) - far}};
}

KnownMistake mistake(const char* name, const char* sentence, Largest which, Divisor divisor) {
  return {name, sentence, weighed(by_loops(which, divisor)), weighed(by_library(which, divisor))};
}

const std::vector<KnownMistake> mistakes = {
    mistake("the largest is not subtracted",
            "exp is taken of the scores as they are. It overflows for large scores, and is "
            "0 for all scores far below 0; the division then gives NaN. Subtract the "
            "largest score first.",
            Largest::none, Divisor::all),
    mistake("the search for the largest starts at 0",
            "Where all scores are below 0, the largest seems to be 0. If they are far below, "
            "every exp is 0, and 0 / 0 is NaN. Start with the first score.",
            Largest::from_zero, Divisor::all),
    mistake("not divided by the sum",
            "These are the exponentials alone. Weights have to sum to 1: divide each by the "
            "sum of all.",
            Largest::right, Divisor::none),
    mistake("divided before the sum was complete",
            "Each exponential is divided by the sum of those up to itself, so the first "
            "weight is always 1. First add up all, then divide in a second loop.",
            Largest::right, Divisor::so_far),
    {"shares without exp",
     "The scores are divided by their sum, without exp. For scores of both signs that gives "
     "weights below 0, and a sum near 0 makes them huge.",
     weighed(shares_of_scores), weighed(by_library(Largest::right, Divisor::scores))}};

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = weighed(learn::weights_of_scores),
                .right = {weighed(solution::weights_of_scores),
                          weighed(by_library(Largest::right, Divisor::all)),
                          weighed([](const Tensor& scores) { return softmax(scores); })},
                .mistakes = mistakes,
                .hints = {"Three loops over the scores, one after the other.",
                          "The first finds the largest score, the second adds up the "
                          "exponentials, the third divides.",
                          "sum += std::exp(scores.at({j}) - largest) for all j; then "
                          "weights.set({j}, std::exp(scores.at({j}) - largest) / sum)."}},
               count, arguments);
}
