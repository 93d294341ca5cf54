#include <cmath>

#include "course/exercise.hpp"
#include "phase1.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::scores) scores;
}

namespace {

using Scores = std::function<decltype(learn::scores)>;

Attempt scored(Scores scores) { return attempt("scores", std::move(scores)); }

// Plain sums, times a factor that depends on d.
Scores times(double (*factor)(double d)) {
  return [=](const Tensor& query, const Tensor& keys) {
    const auto d = static_cast<double>(keys.size(1));
    return sum(keys * query, -1) * factor(d);  // (n)
  };
}

// The same number by number, divided after each product or before it.
Scores by_loops(double (*divisor)(double d)) {
  return [=](const Tensor& query, const Tensor& keys) {
    const double by = divisor(static_cast<double>(keys.size(1)));
    Tensor result = Tensor::zeros({keys.size(0)});  // (n)
    for (Index j = 0; j < keys.size(0); ++j) {
      for (Index c = 0; c < keys.size(1); ++c) {
        result.set({j},
                   double{result.at({j})} + double{query.at({c})} / by * double{keys.at({j, c})});
      }
    }
    return result;
  };
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1 + random.randint(2), d = size * size + 2;
  return {{"query", random.normal({d})}, {"keys", random.normal({n, d})}};
}

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = scored(learn::scores),
       .right = {scored(solution::scores), scored(times([](double d) { return 1 / std::sqrt(d); })),
                 scored(by_loops([](double d) { return std::sqrt(d); }))},
       .mistakes = {{"not divided",
                     "The sums are right, but nothing divides them by sqrt(d). The larger d, the "
                     "larger such "
                     "scores become, and softmax then gives nearly all weight to one key.",
                     scored(times([](double) { return 1.0; })),
                     scored(by_loops([](double) { return 1.0; }))},
                    {"divided by d",
                     "The sums are divided by d, not by its root. For large d all scores then are "
                     "close to 0, "
                     "and softmax cannot tell the keys apart.",
                     scored(times([](double d) { return 1 / d; })),
                     scored(by_loops([](double d) { return d; }))},
                    {"multiplied by the root",
                     "The sums are multiplied by sqrt(d) where they should be divided by it.",
                     scored(times([](double d) { return std::sqrt(d); })),
                     scored(by_loops([](double d) { return 1 / std::sqrt(d); }))},
                    {"root of the number of keys",
                     "The sums are divided by the square root of n, the number of keys; it has to "
                     "be that of "
                     "d, the length of a key.",
                     scored([](const Tensor& query, const Tensor& keys) {
                       return sum(keys * query, -1) / std::sqrt(double(keys.size(0)));
                     }),
                     scored([](const Tensor& query, const Tensor& keys) {
                       const Tensor q =
                           unsqueeze(query, 0) / std::sqrt(double(keys.size(0)));  // (1, d)
                       return sum(keys * q, -1);                                   // (n)
                     })}},
       .hints = {"Two loops: one over the keys j, in it one over the columns c.",
                 "Add up query.at({c}) * keys.at({j, c}) over c; then divide.",
                 "result.set({j}, sum / std::sqrt(d)), where d is keys.size(1)."}},
      count, arguments);
}
