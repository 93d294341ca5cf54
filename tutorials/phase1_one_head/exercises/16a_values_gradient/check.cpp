#include "course/exercise.hpp"
#include "number_by_number.hpp"
#include "phase1.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::mixture_backward) mixture_backward;
}

namespace {

using In = const Tensor&;

Attempt attempt(const std::function<MixtureGradients(In, In, In)>& backward) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const MixtureGradients made = backward(in[0].value, in[1].value, in[2].value);
    return {{"dweights", made.dweights}, {"dvalues", made.dvalues}};
  };
}

MixtureGradients by_products(In weights, In values, In doutput) {
  return {matmul(doutput, transpose(values)), matmul(transpose(weights), doutput)};
}

MixtureGradients by_tape(In weights, In values, In doutput) {
  Tape tape({weights, values});
  const Gradients gradients = tape.backward(matmul(weights, values), doutput);
  return {gradients[weights], gradients[values]};  // (n, n), (n, d)
}

// Sums over i, j and c of what the switches say.
struct Form {
  bool is_transposed = true, adds = true, own_factor = false, through_softmax = false;
};

Attempt by_loops(Form form) {
  return attempt([=](const Numbers w, const Numbers v, const Numbers dy) -> MixtureGradients {
    const Index n = v.rows(), d = v.columns();
    const auto product = [&](Index i, Index j) {
      return total(d, [&](Index c) { return dy(i, c) * v(j, c); });
    };
    const Numbers dweights = matrix(n, n, [&](Index i, Index j) {
      const double own = form.own_factor || form.through_softmax ? w(i, j) : 1;
      const double mean = total(n, [&](Index o) { return w(i, o) * product(i, o); });
      return own * (product(i, j) - (form.through_softmax ? mean : 0));
    });
    const Numbers dvalues = matrix(n, d, [&](Index j, Index c) {
      const auto part = [&](Index i) {
        return (form.is_transposed ? w(i, j) : w(j, i)) * dy(i, c);
      };
      return form.adds ? total(n, part) : part(n - 1);
    });
    return {dweights.tensor(), dvalues.tensor()};
  });
}

MixtureGradients untransposed(In weights, In values, In doutput) {
  return {matmul(doutput, transpose(values)), matmul(weights, doutput)};
}

MixtureGradients last_query(In weights, In values, In doutput) {
  const Index n = weights.size(0);
  const Tensor w = slice(weights, 0, n - 1, n), dy = slice(doutput, 0, n - 1, n);  // (1, n), (1, d)
  return {matmul(doutput, transpose(values)), transpose(w) * dy};
}

MixtureGradients with_own_factor(In weights, In values, In doutput) {
  const MixtureGradients right = by_products(weights, values, doutput);
  return {weights * right.dweights, right.dvalues};
}

MixtureGradients of_scores(In weights, In values, In doutput) {
  const MixtureGradients right = by_products(weights, values, doutput);
  const Tensor scores = log(weights);  // (n, n)
  Tape tape({scores});
  return {tape.backward(softmax(scores), right.dweights)[scores], right.dvalues};
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, d = size + random.randint(2);
  return {{"weights", softmax(random.normal({n, n}))},
          {"values", random.normal({n, d})},
          {"doutput", random.normal({n, d})}};
}

const std::vector<KnownMistake> mistakes = {
    {"weights not transposed",
     "dweights is right. In dvalues the weights are read as weights_ji: row j, what query j "
     "gives to all. A value needs what all queries give to it: column j.",
     by_loops({.is_transposed = false}), attempt(untransposed)},
    {"dvalues overwritten",
     "Only the last query counts in dvalues: each one overwrites the one before. All queries "
     "read a value, and what they send back adds up: +=, not =.",
     by_loops({.adds = false}), attempt(last_query)},
    {"the weight kept as a factor",
     "dvalues is right. In dweights each element is also multiplied by its weight. The slope "
     "of weight * value by the weight is the value alone.",
     by_loops({.own_factor = true}), attempt(with_own_factor)},
    {"one step too far",
     "What stands in dweights is the gradient of the scores: softmax was differentiated as "
     "well. That comes next; here the gradient of the weights is wanted.",
     by_loops({.through_softmax = true}), attempt(of_scores)}};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = attempt(learn::mixture_backward),
       .right = {attempt(solution::mixture_backward), attempt(by_products), by_loops({}),
                 attempt(by_tape)},
       .mistakes = mistakes,
       .hints = {"Three nested loops over i, j and c add up both results. Or two matrix "
                 "products, one for each.",
                 "dweights (n, n) is made of doutput (n, d) and values (n, d): one of them "
                 "has to be transposed. Likewise dvalues, of weights and doutput.",
                 "matmul(doutput, transpose(values)) and matmul(transpose(weights), "
                 "doutput)."}},
      count, arguments);
}
