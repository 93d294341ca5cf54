// Text generation, one word after the other.
//
// A model computes the logits of the next word from the words so far; they become probabilities,
// one word is sampled, and the model reads the longer text again.
//
//   const auto next_logits = [&](const Indices& ids) {  // of the last position: (vocabulary)
//     return squeeze(slice(model(ids), 0, -1, ids.shape[0]), 0);
//   };
//   Random random(42);
//   const Indices ids = generate(next_logits, vocabulary.encode("the cat"), random,
//                                {.sampling = {.temperature = 0.8}, .eos = Vocabulary::eos});
//   std::cout << vocabulary.decode(ids);
#pragma once

#include <cstdint>
#include <functional>

#include "tapestry/random.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

struct Transformer;

// How logits become probabilities. The options apply in this order.
struct SamplingOptions {
  double temperature = 1;  // divides the logits: below 1 sharper, above 1 more even; 0: greedy
  Index top_k = 0;         // keep only the k likeliest words; 0: all
  double top_p = 1;        // of those, the likeliest that together have this probability
};

// Greedy: all probability on the largest logit.
inline constexpr SamplingOptions greedy = {.temperature = 0};

// Logits (vocabulary) -> the sampling probabilities (vocabulary): softmax(logits / temperature) of
// the words kept, scaled to sum to 1; exactly 0 for the others. top_p is nucleus sampling (Holtzman
// et al. 2020): the fewest words whose probabilities add up to p. Of equal logits the lower id
// counts as likelier, so that greedy takes the lowest. A logit of -inf has probability 0. Not
// recorded by a tape.
//
// Throws Error for a temperature below 0, top_k below 0, top_p outside (0, 1], top_k or top_p at
// temperature 0, another rank than 1, a logit that is NaN or +inf, or none above -inf.
[[nodiscard]] Tensor sampling_probabilities(const Tensor& logits,
                                            const SamplingOptions& options = {});

// Samples an id (uses one random.uniform()) from probabilities (vocabulary), which need not sum to
// 1. Throws Error for another rank, a probability that is negative, NaN or infinite, or all 0.
[[nodiscard]] std::int32_t sample(const Tensor& probabilities, Random& random);

// Logits (vocabulary) -> logits in which those of the words in `ids` are lower: divided by
// `penalty` if above 0, else multiplied by it (Keskar et al. 2019). However often a word came, it
// counts once. Above 1 a text repeats itself less; 1 changes nothing. Throws Error for a penalty
// that is not above 0 and finite, and an id without a logit.
[[nodiscard]] Tensor without_repetition(const Tensor& logits, const Indices& ids, double penalty);

// The logits (vocabulary) of the word that follows `ids` (length). It cuts `ids` to the last
// positions that the model can read; with a cache it reads only the new ones.
using NextLogits = std::function<Tensor(const Indices& ids)>;

// That of a decoder, which must outlive it. Keys and values are kept, so that every id is read once
// while the text has at most `positions` of them. Beyond, the last ones are read again for each
// word, after `first` (such as Vocabulary::bos) if that is not negative.
[[nodiscard]] NextLogits next_logits_of(const Transformer& model, Index positions,
                                        std::int32_t first = -1);

// The choice of one word, for inspection.
struct GenerationStep {
  const Indices& ids;           // the text so far, (length)
  const Tensor& logits;         // (vocabulary), from the model, without a penalty
  const Tensor& probabilities;  // (vocabulary), after temperature, top_k and top_p
  std::int32_t chosen;
};

struct GenerationOptions {
  SamplingOptions sampling = {};
  Index max_new_tokens = 20;      // most new words
  double repetition_penalty = 1;  // as in without_repetition()
  std::int32_t eos = -1;          // the word after which to stop, such as Vocabulary::eos; -1: none
  std::function<void(const GenerationStep& step)> after_step = {};  // called for each new word
  std::function<bool()> stop =
      {};  // asked after each new word, after after_step: true ends the text
};

// The prompt (length) and the words that follow, with `eos` as the last one if it came. An `eos`
// in the prompt stops nothing. Throws Error for an empty prompt or one of another rank than 1, a
// negative length, an `eos` below -1, and as sampling_probabilities does.
Indices generate(const NextLogits& next_logits, const Indices& prompt, Random& random,
                 const GenerationOptions& options = {});

}  // namespace tapestry
