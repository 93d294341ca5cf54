#include <cmath>

#include "course/exercise.hpp"
#include "number_by_number.hpp"
#include "phase1.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::scores_backward) scores_backward;
}

namespace {

using In = const Tensor&;

Attempt attempt(const std::function<ScoreGradients(In, In, In, In)>& backward) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const ScoreGradients made =
        backward(in[0].value, in[1].value, in[2].value, in[3].value);  // (n, d), (n, d)
    return {{"dq", made.dq}, {"dk", made.dk}};
  };
}

ScoreGradients by_tape(In q, In k, In, In dweights) {
  const double root = std::sqrt(static_cast<double>(q.size(1)));
  Tape tape({q, k});
  const Tensor weights = softmax(matmul(q, transpose(k)) / root);  // (n, n)
  const Gradients gradients = tape.backward(weights, dweights);
  return {gradients[q], gradients[k]};
}

struct Form {
  double power = 0.5;  // dq and dk are divided by d to this power
  enum { weighted, none, plain, column } mean = weighted;
  bool is_transposed = true;  // dscores, in dk
  bool own_factor = false;    // dq with q, dk with k
  double sign = 1;
};

Attempt by_products(Form form) {
  return attempt([=](In q, In k, In weights, In dweights) -> ScoreGradients {
    const double scale = std::pow(static_cast<double>(q.size(1)), -form.power);
    const int axis = form.mean == Form::column ? 0 : 1;
    Tensor mean = sum(weights * dweights, axis, true);  // (n, 1) or (1, n)
    if (form.mean == Form::none) mean = Tensor(0);
    if (form.mean == Form::plain) mean = sum(dweights, 1, true) / static_cast<double>(q.size(0));
    const Tensor dscores = weights * (dweights - mean) * (form.sign * scale);  // (n, n)
    const Tensor back = form.is_transposed ? transpose(dscores) : dscores;     // (n, n)
    return {matmul(dscores, form.own_factor ? q : k), matmul(back, form.own_factor ? k : q)};
  });
}

Attempt by_loops(Form form) {
  return attempt([=](const Numbers q, const Numbers k, const Numbers w,
                     const Numbers dw) -> ScoreGradients {
    const Index n = q.rows(), d = q.columns();
    const auto mean = [&](Index i, Index j) {
      if (form.mean == Form::none) return 0.0;
      return total(n, [&](Index l) {
        if (form.mean == Form::column) return w(l, j) * dw(l, j);
        return form.mean == Form::plain ? dw(i, l) / static_cast<double>(n) : w(i, l) * dw(i, l);
      });
    };
    const Numbers ds = matrix(n, n, [&](Index i, Index j) {
      return form.sign * w(i, j) * (dw(i, j) - mean(i, j)) /
             std::pow(static_cast<double>(d), form.power);
    });
    const Numbers &beside_q = form.own_factor ? q : k, &beside_k = form.own_factor ? k : q;
    const auto to_query = [&](Index i, Index c) {
      return total(n, [&](Index j) { return ds(i, j) * beside_q(j, c); });
    };
    const auto to_key = [&](Index j, Index c) {
      return total(
          n, [&](Index i) { return (form.is_transposed ? ds(i, j) : ds(j, i)) * beside_k(i, c); });
    };
    return {matrix(n, d, to_query).tensor(), matrix(n, d, to_key).tensor()};
  });
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, d = size + 1 + random.randint(2);
  const Tensor q = random.normal({n, d}), k = random.normal({n, d});                  // (n, d)
  const Tensor scores = matmul(q, transpose(k)) / std::sqrt(static_cast<double>(d));  // (n, n)
  return {{"q", q}, {"k", k}, {"weights", softmax(scores)}, {"dweights", random.normal({n, n})}};
}

KnownMistake mistake(const char* name, const char* sentence, const Form& form) {
  return {name, sentence, by_products(form), by_loops(form)};
}

const std::vector<KnownMistake> mistakes = {
    mistake("not scaled in the backward pass",
            "dq and dk are not divided by sqrt(d). The scores were, so their slopes by q and "
            "k are divided, too.",
            {.power = 0}),
    mistake("divided by d",
            "dq and dk are divided by d: by the root twice. A factor of the forward pass is the "
            "same factor, once, of the backward pass.",
            {.power = 1}),
    mistake("softmax without the sum",
            "dscores is weights * dweights, without the sum that is subtracted. When one "
            "weight rises, the others of its row fall; the sum accounts for that.",
            {.mean = Form::none}),
    mistake("the plain mean",
            "The plain mean of dweights is subtracted. It has to be the mean weighted by "
            "the weights; only then do the dscores of a row sum to 0.",
            {.mean = Form::plain}),
    mistake("the sum over the queries",
            "The sum of weights * dweights runs down the columns. Softmax ran over each row, "
            "so its sum does, too.",
            {.mean = Form::column}),
    mistake("dscores not transposed",
            "dq is right. In dk dscores is read as dscores_ji. A key collects from all "
            "queries: from its column, not from its row.",
            {.is_transposed = false}),
    mistake("the sign turned round",
            "dq and dk have the wrong sign: dscores is weights * (dweights - sum), not weights * "
            "(sum - dweights). Training would climb where it should descend.",
            {.sign = -1}),
    mistake("each with itself",
            "dq is made of queries and dk of keys. In a product the slope by one factor is "
            "the other one.",
            {.own_factor = true})};

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = attempt(learn::scores_backward),
                .right = {attempt(solution::scores_backward), attempt(by_tape), by_loops({})},
                .mistakes = mistakes,
                .hints = {"First dscores (n, n), row by row; then dq and dk, as in 16a.",
                          "For each row, add up weights * dweights over its columns; subtract the "
                          "sum from each dweights; multiply by the weight.",
                          "dscores = weights * (dweights - sum(weights * dweights, 1, true)); dq = "
                          "matmul(dscores, k) / root; dk = matmul(transpose(dscores), q) / root."}},
               count, arguments);
}
