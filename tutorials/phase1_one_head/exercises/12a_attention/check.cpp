#include <cmath>

#include "course/exercise.hpp"
#include "number_by_number.hpp"
#include "phase1.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::weights_of_all) weights_of_all;
decltype(learn::attention_forward) attention_forward;
}  // namespace solution

namespace {

using Weights = std::function<Tensor(const Tensor&, const Tensor&)>;

Attempt attended(const Weights& weights, const AttentionFunction& attention) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const Tensor &q = in[0].value, &k = in[1].value, &v = in[2].value;
    return {{"weights", weights(q, k)}, {"output", attention(q, k, v)}};
  };
}

struct Form {
  double power = 0.5;  // scores are divided by d to this power
  enum { row, column, all } sums_to_1 = row;
  bool is_root_of_keys = false;  // their number in place of d
  bool is_late = false;          // the division comes after softmax
  bool mixes_keys = false;
};

Attempt by_library(Form form) {
  const Weights weights = [=](const Tensor& q, const Tensor& k) {
    const auto width = static_cast<double>(k.size(form.is_root_of_keys ? 0 : 1));
    const double scale = std::pow(width, -form.power);
    const Tensor product = matmul(q, transpose(k));                      // (m, n)
    const Tensor scores = form.is_late ? product : product * scale;      // (m, n)
    Tensor made = softmax(scores, form.sums_to_1 == Form::row ? 1 : 0);  // (m, n)
    if (form.sums_to_1 == Form::all) {
      made = reshape(softmax(reshape(scores, {-1})), scores.shape());  // (m, n)
    }
    return form.is_late ? made * scale : made;  // (m, n)
  };
  return attended(weights, [=](const Tensor& q, const Tensor& k, const Tensor& v) {
    return matmul(weights(q, k), form.mixes_keys ? k : v);  // (m, d)
  });
}

Numbers weights_by_loops(const Form& form, const Numbers& q, const Numbers& k) {
  const Index m = q.rows(), n = k.rows(), d = k.columns();
  const double scale = std::pow(static_cast<double>(form.is_root_of_keys ? n : d), -form.power);
  const Numbers e = matrix(m, n, [&](Index i, Index j) {
    const double score = total(d, [&](Index c) { return q(i, c) * k(j, c); });
    return std::exp(form.is_late ? score : score * scale);
  });
  const auto row = [&](Index i) { return total(n, [&](Index j) { return e(i, j); }); };
  return matrix(m, n, [&](Index i, Index j) {
    double sum = row(i);
    if (form.sums_to_1 == Form::column) sum = total(m, [&](Index o) { return e(o, j); });
    if (form.sums_to_1 == Form::all) sum = total(m, row);
    return form.is_late ? e(i, j) / sum * scale : e(i, j) / sum;
  });
}

Attempt by_loops(Form form) {
  const Weights weights = [=](const Tensor& q, const Tensor& k) {
    return weights_by_loops(form, q, k).tensor();  // (m, n)
  };
  return attended(weights, [=](const Tensor& q, const Tensor& k, const Tensor& v) {
    const Numbers w = weights_by_loops(form, q, k), x = form.mixes_keys ? k : v;
    return matrix(w.rows(), x.columns(),
                  [&](Index i, Index c) {
                    return total(x.rows(), [&](Index j) { return w(i, j) * x(j, c); });
                  })
        .tensor();
  });
}

NamedTensors inputs(Random& random, Index size) {
  const Index m = size + 1, n = size + 1 + random.randint(2), d = n + 1;
  return {{"q", random.normal({m, d}, 0, 1.5)},
          {"k", random.normal({n, d}, 0, 1.5)},
          {"v", random.normal({n, d})}};
}

KnownMistake mistake(const char* name, const char* sentence, const Form& form) {
  return {name, sentence, by_library(form), by_loops(form)};
}

const std::vector<KnownMistake> mistakes = {
    mistake("not scaled",
            "The scores are not divided by sqrt(d). The larger d, the larger they become, and "
            "softmax then gives nearly all weight to one key.",
            {.power = 0}),
    mistake("divided by d",
            "The scores are divided by d, not by its root (or by the root twice). With "
            "random numbers and a large d all weights of a query are then nearly equal.",
            {.power = 1}),
    mistake("root of the number of keys",
            "The scores are divided by the square root of the number of keys; it has to be that "
            "of d, the length of a key.",
            {.is_root_of_keys = true}),
    mistake("divided after softmax",
            "The weights are divided by sqrt(d), not the scores. The rows no longer sum to 1, "
            "and the scores are as large as without a division.",
            {.is_late = true}),
    mistake("softmax over the queries",
            "The columns of the weights sum to 1, the rows do not: softmax ran over the queries. "
            "A query has to share its weight among the keys.",
            {.sums_to_1 = Form::column}),
    mistake("softmax over queries and scaling forgotten",
            "Two mistakes: the scores are not divided by sqrt(d), and the columns of the weights "
            "sum to 1 where the rows should.",
            {.power = 0, .sums_to_1 = Form::column}),
    mistake("one sum for the whole matrix",
            "All weights together sum to 1. Each row has to: every query has a softmax of its "
            "own.",
            {.sums_to_1 = Form::all}),
    mistake("keys in place of values",
            "The weights are right, but they mix the keys. A key says what a word is found by; "
            "what it gives is its value.",
            {.mixes_keys = true})};

}  // namespace

int main(int count, char** arguments) {
  const AttentionFunction library = [](const Tensor& q, const Tensor& k, const Tensor& v) {
    return fused_attention(q, k, v);  // (m, d)
  };
  return judge(
      {.inputs = inputs,
       .learner = attended(learn::weights_of_all, learn::attention_forward),
       .right = {attended(solution::weights_of_all, solution::attention_forward), by_loops({}),
                 attended(solution::weights_of_all, library)},
       .mistakes = mistakes,
       .hints = {"Score (i, j) is the dot product of row i of q and row j of k: one matrix "
                 "product has all of them.",
                 "matmul(q, transpose(k)), divided by std::sqrt of k.size(1), is (m, n). The "
                 "softmax of a row runs along axis 1.",
                 "weights = softmax(matmul(q, transpose(k)) / std::sqrt(double(k.size(1))), 1); "
                 "output = matmul(weights, v)."}},
      count, arguments);
}
