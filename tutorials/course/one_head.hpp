// The model of step 14, one head that guesses hidden words: for step 18 and its experiment.
#pragma once

#include "tapestry/attention.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/nn/init.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/random.hpp"

namespace tapestry {

struct OneHead {
  Tensor words, positions;           // (vocabulary, 64), (6, 64)
  Tensor w_q, w_k, w_v, w_o, guess;  // (64, 64) each; guess (64, vocabulary)

  // Before training: with the seed 42 that of step 14.
  OneHead(Index vocabulary, Random& random)
      : words(random.normal({vocabulary, 64}, 0, 0.1)),
        positions(random.normal({6, 64}, 0, 0.1)),
        w_q(init::lecun_normal({64, 64}, random)),
        w_k(init::lecun_normal({64, 64}, random)),
        w_v(init::lecun_normal({64, 64}, random)),
        w_o(init::lecun_normal({64, 64}, random)),
        guess(init::lecun_normal({64, vocabulary}, random)) {}

  // The model of the file that step 14 writes. Throws Error if a tensor is missing.
  explicit OneHead(const Safetensors& file)
      : words(file["words"]),
        positions(file["positions"]),
        w_q(file["head.query.weight"]),
        w_k(file["head.key.weight"]),
        w_v(file["head.value.weight"]),
        w_o(file["head.output.weight"]),
        guess(file["guess"]) {}

  // With their names in that file.
  Parameters parameters() const {
    return {{"words", words},         {"positions", positions},   {"head.query.weight", w_q},
            {"head.key.weight", w_k}, {"head.value.weight", w_v}, {"head.output.weight", w_o},
            {"guess", guess}};
  }

  // ids (rows, 6) -> output, the mixed values (rows, 6, 64); weights and scores (rows, 6, 6)
  Attention look(const Indices& ids, const Mask& mask = {}) const {
    const Tensor x = embedding(words, ids) + positions;  // (rows, 6, 64)
    return attention(matmul(x, w_q), matmul(x, w_k), matmul(x, w_v), mask);
  }

  // Of mixed values: (..., 64) -> (..., vocabulary)
  Tensor logits(const Tensor& mixed) const { return matmul(matmul(mixed, w_o), guess); }

  // ids (rows, 6) -> (rows, 6, vocabulary)
  Tensor logits(const Indices& ids, const Mask& mask = {}) const {
    return logits(look(ids, mask).output);
  }
};

}  // namespace tapestry
