#include <cmath>
#include <utility>
#include <vector>

#include "course/exercise.hpp"
#include "phase3.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::previous_word_scores) previous_word_scores;
}

namespace {

using Scores = std::function<decltype(learn::previous_word_scores)>;

Attempt scored(Scores scores) { return attempt("scores", std::move(scores)); }

enum Baseline { even, none, of_all_keys, of_earlier_keys };

// What is done; the defaults are right.
struct How {
  Index query = 0, key = -1;  // which weight is read in row i: (i + query, i + key)
  Baseline baseline = even;
  bool row_0 = false;       // divided by n in place of n - 1
  bool over_heads = false;  // the mean of the heads, for each
};

double baseline_of(Baseline kind, double i, double n) {
  return kind == even              ? 1 / (i + 1)
         : kind == of_all_keys     ? 1 / n
         : kind == of_earlier_keys ? 1 / i
                                   : 0;
}

Scores by_loops(How how) {
  return [=](const Tensor& weights) {
    const Index heads = weights.size(0), n = weights.size(1);
    Tensor scores = Tensor::zeros({heads});  // (heads)
    double all = 0;
    for (Index i = 1; i < n; ++i) {
      for (Index h = 0; h < heads; ++h) {
        const double weight = double{weights.at({h, i + how.query, i + how.key})};
        const double more = (weight - baseline_of(how.baseline, double(i), double(n))) /
                            double(how.row_0 ? n : n - 1);
        scores.set({h}, double{scores.at({h})} + more);
        all += more / double(heads);
      }
    }
    return how.over_heads ? Tensor::full({heads}, all) : scores;
  };
}

// All weights of a diagonal at once: times a matrix that is 1 there.
Scores by_diagonal(How how) {
  return [=](const Tensor& weights) {
    const Index n = weights.size(1);
    Tensor diagonal = Tensor::zeros({n, n});  // (n, n)
    double expected = 0;
    for (Index i = 1; i < n; ++i) {
      diagonal.set({i + how.query, i + how.key}, 1);
      expected += baseline_of(how.baseline, double(i), double(n));
    }
    const double rows = double(how.row_0 ? n : n - 1);
    const Tensor scores = (sum(weights * diagonal, {1, 2}) - expected) / rows;  // (heads)
    return how.over_heads ? expand(mean(scores, 0, true), scores.shape()) : scores;
  };
}

KnownMistake mistake(const char* name, const char* sentence, How how) {
  return {name, sentence, scored(by_loops(how)), scored(by_diagonal(how))};
}

const std::vector<KnownMistake> mistakes = {
    mistake(
        "no baseline",
        "This is the mean weight on the word before, without its baseline (in C++ 1 / (i + 1) is "
        "0 for a whole number i). In a short text even weights have much there: such a score "
        "is no sign of a head that has learned it.",
        {.baseline = none}),
    mistake("baseline without the mask",
            "The baseline is 1 / n in every row. Under the causal mask query i sees only i + 1 "
            "keys, so even weights are 1 / (i + 1), which is more.",
            {.baseline = of_all_keys}),
    mistake("baseline 1 / i",
            "The baseline is 1 / i. Counted from 0, query i sees i + 1 keys: those before it, and "
            "itself.",
            {.baseline = of_earlier_keys}),
    mistake("the word itself",
            "The diagonal was read: how much each word looks at itself. The word before query i "
            "is key i - 1.",
            {.key = 0}),
    mistake("rows and columns exchanged",
            "The weights above the diagonal were read: those on the next word, which the mask "
            "keeps at 0. Rows are queries: weights.at({h, i, i - 1}).",
            {.query = -1, .key = 0}),
    mistake("row 0 counted",
            "The sum is divided by n. Row 0 has no word before it and does not count: n - 1 rows "
            "are left.",
            {.row_0 = true}),
    mistake("no baseline, and row 0 counted",
            "Two things: the baseline is missing, and the sum is divided by n, although row 0 has "
            "no word before it.",
            {.baseline = none, .row_0 = true}),
    mistake("mean of the heads",
            "All heads got the same score, the mean of them. A mean hides the one head that does "
            "it: each has a score of its own.",
            {.over_heads = true}),
};

NamedTensors inputs(Random& random, Index size) {
  const Index heads = 1 + size / 2 + random.randint(size), n = size + 2;
  const Tensor scores = random.normal({heads, n, n}, 0, 1.5);
  const Tensor allowed = Mask::causal().tensor({n, n});  // (n, n)
  return {{"weights", softmax(where(allowed, scores, -HUGE_VAL))}};
}

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = scored(learn::previous_word_scores),
       .right = {scored(solution::previous_word_scores), scored(by_loops({})),
                 scored(by_diagonal({})), scored([](const Tensor& weights) {
                   const Tensor even = uniform_attention(weights.shape(), Mask::causal());
                   return pattern_score(Pattern::previous, weights, Mask::causal()) -
                          pattern_score(Pattern::previous, even, Mask::causal());
                 })},
       .mistakes = mistakes,
       .hints = {"Two loops: over the heads h, and over the rows i from 1 on.",
                 "Add up weights.at({h, i, i - 1}) - 1.0 / double(i + 1); divide by n - 1.",
                 "sum += double{weights.at({h, i, i - 1})} - 1.0 / double(i + 1); and behind the "
                 "inner loop scores.set({h}, sum / double(n - 1));"}},
      count, arguments);
}
