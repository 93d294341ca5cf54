// The functions that the exercises of phase 5 ask for.
#pragma once

#include <functional>
#include <vector>

#include "course/learn.hpp"

namespace tapestry {

// The loss of a model that keeps some of its heads: kept[h] says whether it keeps head h (51a).
using HeadLoss = std::function<double(const std::vector<bool>& kept)>;

// A score of a head: weights (n, n), queries by keys, on a text of n words (58b).
using InductionScore = std::function<double(const Tensor& weights, const Indices& words)>;

// A model whose heads can be read, and replaced (59a).
struct OpenModel {
  // What each head says at each word of a text (n, d): (heads, n, d)
  std::function<Tensor(const Tensor& text)> heads;
  // The model's answer to a text, a logit difference, if its heads say this.
  std::function<double(const Tensor& text, const Tensor& heads)> answer;
};

}  // namespace tapestry

namespace learn {

Tensor lens_logits(const Tensor& streams, const Tensor& gain, const Tensor& bias,
                   const Tensor& unembedding);                                        // 50a
Tensor lens_ranks(const Tensor& logits, const Indices& right);                        // 50a
Tensor cost_alone(const HeadLoss& loss, Index heads);                                 // 51a
std::vector<Index> pruning_order(const HeadLoss& loss, Index heads);                  // 51a
Index stays_beyond(const Tensor& curve, double part);                                 // 53a
std::vector<Index> keys_behind(const Indices& words);                                 // 58a
double score_behind(const Tensor& weights, const Indices& words);                     // 58a
bool is_induction_score(const InductionScore& score);                                 // 58b
Tensor with_patch(const Tensor& to, const Tensor& from, Index head, Index position);  // 59a
Tensor restored_shares(const OpenModel& model, const Tensor& clean,
                       const Tensor& corrupted);  // 59a

}  // namespace learn
