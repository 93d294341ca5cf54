#include <cmath>

#include "course/exercise.hpp"
#include "phase6.hpp"
#include "tapestry/attention_variants.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::prefix_attention) prefix_attention;
}

namespace {

using Linear = std::function<decltype(learn::prefix_attention)>;

Attempt mixed(const Linear& f) { return attempt("output", f); }

enum Kind {
  right,
  without_present,
  all_keys,
  no_divisor,
  by_count,
  all_divisor,
  with_root,
  no_one,
  no_phi
};

// All pairs, number by number.
Linear by_pairs(Kind kind) {
  return [=](const Tensor& q, const Tensor& k, const Tensor& v) {
    const Index n = q.size(0), d = q.size(1);
    const auto phi = [=](double x) {
      if (kind == no_phi) return x;
      return (x > 0 ? x + 1 : std::exp(x)) - (kind == no_one);
    };
    const double root = kind == with_root ? std::sqrt(double(d)) : 1;
    Tensor result = Tensor::zeros({n, v.size(1)});  // (n, d_v)
    for (Index i = 0; i < n; ++i) {
      const Index end = kind == all_keys ? n : kind == without_present ? i : i + 1;
      std::vector<double> sums(std::size_t(v.size(1)), 0.0);
      double divisor = 0;
      for (Index j = 0; j < n; ++j) {
        double product = 0;
        for (Index c = 0; c < d; ++c) {
          product += phi(double{q.at({i, c})} / root) * phi(double{k.at({j, c})});
        }
        if (j < end || kind == all_divisor) divisor += product;
        for (Index e = 0; e < v.size(1) && j < end; ++e) {
          sums[std::size_t(e)] += product * double{v.at({j, e})};
        }
      }
      if (kind == no_divisor) divisor = 1;
      if (kind == by_count) divisor = double(end);
      for (Index e = 0; e < v.size(1); ++e) result.set({i, e}, sums[std::size_t(e)] / divisor);
    }
    return result;
  };
}

// Prefix sums by cumsum, or by the library's functions.
Linear by_tensors(Kind kind) {
  return [=](const Tensor& q, const Tensor& k, const Tensor& v) {
    const Index n = q.size(0);
    if (kind == right) return causal_linear_attention(q, k, v);
    if (kind == all_keys) return linear_attention(q, k, v);
    if (kind == with_root) return causal_linear_attention(q / std::sqrt(double(q.size(1))), k, v);
    const auto phi = [=](const Tensor& x) {  // x's shape
      return kind == no_phi ? x : kind == no_one ? elu(x) : elu(x) + 1;
    };
    const Tensor key = unsqueeze(phi(k), 2), query = unsqueeze(phi(q), 1);
    Tensor s = cumsum(matmul(key, unsqueeze(v, 1)), 0), z = cumsum(key, 0);  // (n, d, d_v or 1)
    if (kind == without_present) s = s - matmul(key, unsqueeze(v, 1)), z = z - key;
    Tensor divisor = matmul(query, z);  // (n, 1, 1)
    if (kind == without_present) divisor = where(reshape(Tensor::arange(n), {n, 1, 1}), divisor, 0);
    if (kind == no_divisor) divisor = Tensor::ones({n, 1, 1});
    if (kind == by_count) divisor = reshape(Tensor::arange(n) + 1, {n, 1, 1});
    if (kind == all_divisor) divisor = matmul(query, sum(key, 0, true));
    if (kind == without_present) s = where(reshape(Tensor::arange(n), {n, 1, 1}), s, 0);
    return squeeze(matmul(query, s) / divisor, 1);  // (n, d_v)
  };
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return {name, sentence, mixed(by_pairs(kind)), mixed(by_tensors(kind))};
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1 + random.randint(2), d = size < 2 ? 2 : size;
  return {{"q", random.uniform({n, d}, -0.5, 1.5)},
          {"k", random.uniform({n, d}, -0.5, 1.5)},
          {"v", random.normal({n, 1 + size / 2})}};
}

const std::vector<KnownMistake> mistakes = {
    known(without_present, "the present word left out",
          "Query i does not see its own key: S and z were used before word i was added to "
          "them. The first query then sees nothing, and its output is 0 / 0."),
    known(all_keys, "sums over all keys",
          "S and z hold all keys before the first query asks, so that each query sees the "
          "future. They have to grow with i."),
    known(no_divisor, "nothing divides",
          "The products are not divided by their sum. They are no weights then: the "
          "output grows with the number of words."),
    known(by_count, "divided by the number of keys",
          "The sum is divided by i + 1, the number of keys. It has to be divided by the "
          "sum of the products, phi(q_i) . z, or the weights do not sum to 1."),
    known(all_divisor, "the divisor sees the future",
          "S grows with i, but z holds all keys from the start. The weights of early "
          "queries sum to less than 1."),
    known(
        no_one, "phi without the 1",
        "phi is elu(x) alone: x above 0, exp(x) - 1 below. The 1 is missing, so that products can "
        "be below 0 and cancel in the divisor. They have to be above 0 to be weights."),
    known(
        no_phi, "no phi",
        "Queries and keys are multiplied as they are. Their products can be below 0 and cancel in "
        "the divisor; phi makes all numbers greater than 0."),
    known(with_root, "divided by the root of d",
          "The queries were divided by sqrt(d), as for softmax. The task has no such "
          "division; inside phi it changes the weights.")};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = mixed(learn::prefix_attention),
       .right = {mixed(solution::prefix_attention), mixed(by_pairs(right)),
                 mixed(by_tensors(right))},
       .mistakes = mistakes,
       .hints = {"One loop over the words. In it first add word i to S and z, then make y_i of "
                 "them.",
                 "S is a Tensor (d, d_v), z a Tensor (d), both zeros at the start. For each column "
                 "c: z[c] += phi(k[i, c]), and S[c, e] += phi(k[i, c]) v[i, e] for each e.",
                 "divisor = sum over c of phi(q[i, c]) z[c]; y[i, e] = (sum over c of phi(q[i, c]) "
                 "S[c, e]) / divisor."}},
      count, arguments);
}
