#include <cmath>

#include "course/exercise.hpp"
#include "phase6.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::additive_scores) additive_scores;
}

namespace {

using Additive = std::function<decltype(learn::additive_scores)>;

Attempt scored(const Additive& f) { return attempt("scores", f); }

enum Kind { right, no_tanh, tanh_each, product, tanh_last, no_vector, scaled };

// From sums of plain products, all in double.
Additive by_numbers(Kind kind) {
  return [=](const Tensor& s, const Tensor& h, const Tensor& w, const Tensor& u, const Tensor& v) {
    const auto mapped = [](const Tensor& x, Index row, const Tensor& map, Index c) {
      double sum = 0;
      for (Index k = 0; k < map.size(0); ++k) {
        sum += double{x.at({row, k})} * double{map.at({k, c})};
      }
      return sum;
    };
    Tensor result = Tensor::zeros({s.size(0), h.size(0)});  // (queries, keys)
    for (Index j = 0; j < h.size(0); ++j) {
      for (Index i = 0; i < s.size(0); ++i) {
        double score = 0;
        for (Index c = 0; c < v.size(0); ++c) {
          const double a = mapped(s, i, w, c), b = mapped(h, j, u, c);
          double one = std::tanh(a + b);
          if (kind == no_tanh || kind == tanh_last) one = a + b;
          if (kind == tanh_each) one = std::tanh(a) + std::tanh(b);
          if (kind == product) one = std::tanh(a * b);
          score += kind == no_vector ? one : double{v.at({c})} * one;
        }
        if (kind == scaled) score /= std::sqrt(double(v.size(0)));
        result.set({i, j}, kind == tanh_last ? std::tanh(score) : score);
      }
    }
    return result;
  };
}

// All pairs at once: (queries, keys, c).
Additive by_tensors(Kind kind) {
  return [=](const Tensor& s, const Tensor& h, const Tensor& w, const Tensor& u, const Tensor& v) {
    const Tensor a = unsqueeze(matmul(s, w), 1), b = unsqueeze(matmul(h, u), 0);  // as a pair
    Tensor pairs = tanh(a + b);  // (queries, keys, c)
    if (kind == no_tanh || kind == tanh_last) pairs = a + b;
    if (kind == tanh_each) pairs = tanh(a) + tanh(b);
    if (kind == product) pairs = tanh(a * b);
    const Tensor vector = kind == no_vector ? Tensor::ones(v.shape()) : v;  // (c)
    Tensor scores = squeeze(matmul(pairs, unsqueeze(vector, 1)), 2);        // (queries, keys)
    if (kind == scaled) scores = scores * (1 / std::sqrt(double(v.size(0))));
    return kind == tanh_last ? tanh(scores) : scores;  // (queries, keys)
  };
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return {name, sentence, scored(by_numbers(kind)), scored(by_tensors(kind))};
}

NamedTensors inputs(Random& random, Index size) {
  const Index a = size, b = size + random.randint(2), c = 2 + size / 2;
  return {{"s", random.normal({size, a})},
          {"h", random.normal({size + 1, b})},
          {"w", random.normal({a, c})},
          {"u", random.normal({b, c})},
          {"v", random.normal({c})}};
}

const std::vector<KnownMistake> mistakes = {
    known(no_tanh, "no tanh",
          "tanh is missing. Then the query adds the same number to its scores of all keys, "
          "and softmax does not change by that: all queries get the same weights."),
    known(tanh_each, "tanh before the sum",
          "s W and h U are sent through tanh each, and then added. The sum has to come "
          "first: otherwise the query adds the same number to all its scores, and softmax "
          "gives all queries the same weights."),
    known(product, "a product in place of the sum",
          "s W and h U are multiplied number by number; they have to be added."),
    known(tanh_last, "tanh of the score",
          "tanh was applied to the score, after v. It belongs before v, to each number of "
          "s W + h U; the score has no bounds."),
    known(no_vector, "v left out",
          "The numbers are added up as they are; each has to be multiplied by its v_c."),
    known(scaled, "divided by a root",
          "The score is divided by the square root of c, as a product of query and key "
          "would be. The additive score is divided by nothing.")};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = scored(learn::additive_scores),
       .right = {scored(solution::additive_scores), scored(by_numbers(right)),
                 scored(by_tensors(right))},
       .mistakes = mistakes,
       .hints = {"Make matmul(s, w), (queries, c), and matmul(h, u), (keys, c). Then three loops: "
                 "over queries, keys, and c.",
                 "For each pair i, j add up over c: v_c times tanh of the sum of two numbers, one "
                 "from row i of the first matrix, one from row j of the second.",
                 "score += v.at({c}) * std::tanh(asks.at({i, c}) + answers.at({j, c}));"}},
      count, arguments);
}
