// 50a. What would the model say after each layer?
//
// Each layer adds to the residual stream. After the last one the model normalises the stream and
// multiplies by the unembedding, which gives the logits. The logit lens does that after *every*
// layer, as if the model had to answer there. Write it, and the rank of the right word.
//
// 1. lens_logits: for each layer and word, layer_norm(stream, gain, bias), times the unembedding
//    streams      (layers + 1, n, d): the embedding, and the stream after each layer
//    gain, bias   (d) each: those of the final norm
//    unembedding  (d, vocabulary)
//    ->           (layers + 1, n, vocabulary)
// 2. lens_ranks: 1 if no word has a greater logit than the right one, 2 if one has, ...
//    logits       (layers + 1, n, vocabulary)
//    right        (n): the right word of each position, right.values[i]
//    ->           (layers + 1, n)
//
// Each stream is normalised with its own mean and variance (eps 1e-5); the library's layer_norm and
// matmul do so for all layers at once.
// Lesson: tutorials/phase5_experiments/3_what_carries_the_answer.md, "50 The logit lens"
#include "phase5.hpp"

namespace learn {

Tensor lens_logits(const Tensor& streams, const Tensor& gain, const Tensor& bias,
                   const Tensor& unembedding) {
  // Yours.
  not_written_yet();
}

Tensor lens_ranks(const Tensor& logits, const Indices& right) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
