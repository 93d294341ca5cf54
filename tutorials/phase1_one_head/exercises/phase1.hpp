// The functions that the exercises of phase 1 ask for.
#pragma once

#include <functional>

#include "course/learn.hpp"

namespace tapestry {

// Attention as a function: queries (m, d), keys (n, d), values (n, d) -> (m, d).
using AttentionFunction = std::function<Tensor(const Tensor& q, const Tensor& k, const Tensor& v)>;

// d before a name: the gradient of the loss by it, of the same shape.
struct MixtureGradients {
  Tensor dweights, dvalues;
};

struct ScoreGradients {
  Tensor dq, dk;
};

}  // namespace tapestry

namespace learn {

Tensor scores(const Tensor& query, const Tensor& keys);            // 11a
Tensor weights_of_scores(const Tensor& scores);                    // 11b
Tensor weighted_sum(const Tensor& weights, const Tensor& values);  // 11c

// 12a
Tensor weights_of_all(const Tensor& q, const Tensor& k);
Tensor attention_forward(const Tensor& q, const Tensor& k, const Tensor& v);

bool attention_test_passes(const AttentionFunction& f);  // 12b

Tensor embedding_forward(const Tensor& table, const Indices& ids);               // 14a
Tensor embedding_backward(const Tensor& dy, const Indices& ids, Index n_words);  // 14b

// 16a
MixtureGradients mixture_backward(const Tensor& weights, const Tensor& values,
                                  const Tensor& doutput);
// 16b
ScoreGradients scores_backward(const Tensor& q, const Tensor& k, const Tensor& weights,
                               const Tensor& dweights);

}  // namespace learn
