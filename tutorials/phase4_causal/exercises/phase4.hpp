// The functions that the exercises of phase 4 ask for.
#pragma once

#include <functional>
#include <vector>

#include "course/learn.hpp"

namespace tapestry {

// 42a: what is to be tested, x (n, d) -> (n, d) for any n.
using SequenceFunction = std::function<Tensor(const Tensor& x)>;

// 43a: what a model reads, and what it has to say at each place; both of one shape.
struct NextWords {
  Indices inputs, targets;
};

// 48a: one head with learned positions, and what it keeps of the words read so far.
struct CachedHead {
  Tensor positions;      // (most words, d)
  Tensor w_q, w_k, w_v;  // (d, d)
};
struct KeptWords {
  std::vector<Tensor> keys, values;  // (d) of each word
};

// 48b: reads one more word, keeps its key and value, and gives the logits (vocabulary) of the next.
using ReadWord = std::function<Tensor(Index word)>;

}  // namespace tapestry

namespace learn {

Tensor causal_mask(Index queries, Index keys, Index offset);         // 41a
Tensor masked_softmax(const Tensor& scores, const Tensor& allowed);  // 41b
Tensor masked_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                        const Tensor& words);                                       // 41c
bool causality_passes(const SequenceFunction& f, Index d);                          // 42a
NextWords next_words(const Indices& text);                                          // 43a
double loss_of_words(const Tensor& logits, const Indices& targets);                 // 43b
Tensor at_temperature(const Tensor& logits, double temperature);                    // 46a
Tensor top_k_only(const Tensor& logits, Index k);                                   // 46b
Tensor top_p_only(const Tensor& probabilities, double p);                           // 46c
Tensor cached_attention(const CachedHead& head, const Tensor& x, KeptWords& kept);  // 48a
// 48b
std::vector<Index> write_words(const ReadWord& read, const std::vector<Index>& prompt, Index count);

}  // namespace learn
