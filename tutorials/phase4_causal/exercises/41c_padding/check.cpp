#include <limits>
#include <vector>

#include "phase4_check.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::masked_attention) masked_attention;
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using Masked = std::function<decltype(learn::masked_attention)>;

Attempt attended(Masked masked) { return attempt("output", std::move(masked)); }

// What is done; the defaults are right.
struct How {
  Index ahead = 0;       // how many words behind its own a query sees
  bool padding = true;   // padded keys are hidden
  bool either = false;   // seen if one of the masks allows it
  bool queries = false;  // padded queries see nothing
  bool after = false;    // masked after softmax
  bool scaled = true;
  double hidden = -infinity;

  bool allows(const Tensor& words, Index i, Index j) const {
    const bool causal = j <= i + ahead, word = !padding || words.at({j}) != 0;
    if (queries && words.at({i}) == 0) return false;
    return either ? causal || word : causal && word;
  }
};

Masked by_library(How how) {
  return [=](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& words) {
    const Index n = q.size(0);
    const Tensor i = unsqueeze(Tensor::arange(n), 1), j = Tensor::arange(n);  // (n, 1) and (n)
    const Tensor causal = i + double(how.ahead) >= j;                         // (n, n)
    const Tensor word = how.padding ? words : Tensor::ones({n});              // (n)
    Tensor allowed = how.either ? maximum(causal, word) : causal * word;      // (n, n)
    if (how.queries) allowed = allowed * unsqueeze(words, 1);
    const double by = how.scaled ? std::sqrt(double(q.size(1))) : 1;
    const Tensor scores = matmul(q, transpose(k)) / by;  // (n, n)
    return matmul(
        how.after ? softmax(scores) * allowed : softmax(where(allowed, scores, how.hidden)),
        v);  // (n, d)
  };
}

// One query after the other: the sum of powers and the sum of powers times values.
Masked by_loops(How how) {
  return [=](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& words) {
    const Index n = q.size(0), d = q.size(1);
    const double by = how.scaled ? std::sqrt(double(d)) : 1;
    Tensor output = Tensor::zeros({n, d});  // (n, d)
    for (Index i = 0; i < n; ++i) {
      std::vector<double> sums(static_cast<std::size_t>(d), 0.0);
      double all = 0;
      bool any = false;
      for (Index j = 0; j < n; ++j) any = any || how.allows(words, i, j);
      for (Index j = 0; j < n; ++j) {
        const bool open = how.allows(words, i, j) || (!any && how.hidden == -1e9);
        double score = 0;
        for (Index c = 0; c < d; ++c) score += double{q.at({i, c})} * double{k.at({j, c})} / by;
        const double power = any || how.after ? std::exp(score) : 1;
        if (open || how.after) all += power;
        if (!open) continue;
        for (Index c = 0; c < d; ++c) {
          sums[static_cast<std::size_t>(c)] += power * double{v.at({j, c})};
        }
      }
      for (Index c = 0; c < d && all > 0; ++c) {
        output.set({i, c}, sums[static_cast<std::size_t>(c)] / all);
      }
    }
    return output;
  };
}

KnownMistake mistake(const char* name, const char* sentence, How how) {
  return {name, sentence, attended(by_library(how)), attended(by_loops(how))};
}

NamedTensors inputs(Random& random, Index size) {
  const Index front = size == 1 ? 0 : 1 + random.randint(2), behind = 1 + random.randint(2);
  const Index n = size + 1 + front + behind, d = size + 1;
  Tensor words = Tensor::ones({n});  // (n)
  for (Index j = 0; j < front; ++j) words.set({j}, 0);
  for (Index j = n - behind; j < n; ++j) words.set({j}, 0);
  return {{"q", random.normal({n, d})},
          {"k", random.normal({n, d})},
          {"v", random.normal({n, d})},
          {"words", words}};
}

const std::vector<KnownMistake> mistakes = {
    mistake("padding seen",
            "The causal mask is right, but padding is attended to. In a batch each text then "
            "depends on how much it was filled up.",
            {.padding = false}),
    mistake("future seen",
            "Padding is hidden, but words to come are not: the causal mask is missing.",
            {.ahead = 1000}),
    mistake("one of the masks is enough",
            "A key is seen if one of the masks allows it. Both have to: and, not or.",
            {.either = true}),
    mistake("queries hidden, too",
            "Rows of padded queries are zeros. A mask hides keys: a padded query still attends "
            "to the words before it. (Its output is left out later, in the loss.)",
            {.queries = true}),
    mistake("padding as queries hidden",
            "The queries that are padding were hidden, not the keys: words attend to padding. In "
            "allowed_ij the key j decides.",
            {.padding = false, .queries = true}),
    mistake("own word hidden",
            "The causal mask is one too small: a word may attend to itself, too.", {.ahead = -1}),
    mistake("next word seen",
            "The causal mask is one too large: each word sees the next, which it has to guess.",
            {.ahead = 1}),
    mistake("mask after softmax",
            "Weights were computed over all keys, and hidden ones set to 0 afterwards. The rows "
            "no longer sum to 1, so the outputs are too small.",
            {.after = true}),
    mistake(
        "-1e9 in place of -inf",
        "Hidden scores became -1e9. A query that sees nothing, here padding in front, then gets "
        "the mean of all values. It has to get zeros.",
        {.hidden = -1e9}),
    mistake("not divided", "The masks are right, but the scores are not divided by sqrt(d).",
            {.scaled = false})};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = attended(learn::masked_attention),
       .right = {attended(solution::masked_attention), attended(by_library({})),
                 attended(by_loops({})),
                 attended(
                     [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& words) {
                       const Tensor keys = expand(unsqueeze(words, 0), {q.size(0), q.size(0)});
                       const Mask mask = Mask::causal() & Mask::from(MaskEncoding::keep, keys);
                       return attention(q, k, v, mask).output;  // (n, d)
                     })},
       .mistakes = mistakes,
       .hints = {"First make one matrix allowed (n, n) of both masks, with two loops.",
                 "allowed_ij is 1 if j <= i and words.at({j}) is 1. The rest is one line each: "
                 "scores, softmax, the product with v.",
                 "softmax(where(allowed, scores, -std::numeric_limits<double>::infinity())), with "
                 "scores = matmul(q, transpose(k)) / std::sqrt(double(d))"}},
      count, arguments);
}
