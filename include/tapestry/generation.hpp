// Making text, one word after the other.
//
// A model tells the logits of the next word from the words so far; they become probabilities, one
// word is drawn, and the longer text is given to the model again.
//
//   const auto next_logits = [&](const Indices& ids) {  // of the last position: (vocabulary)
//     return squeeze(slice(model(ids), 0, -1, ids.shape[0]), 0);
//   };
//   Random random(42);
//   const Indices ids = generate(next_logits, vocabulary.ids("the cat"), random,
//                                {.sampling = {.temperature = 0.8}, .eos = Vocabulary::eos});
//   std::cout << vocabulary.text(ids);
#pragma once

#include <cstdint>
#include <functional>

#include "tapestry/random.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// How logits become probabilities. What is set works in this order.
struct SamplingOptions {
  double temperature = 1;  // divides the logits: below 1 bolder, above 1 more even; 0: greedy
  Index top_k = 0;         // keep only the k likeliest words; 0: all
  double top_p = 1;        // of those, only the likeliest that together have at least this share
};

// Greedy: all probability on the largest logit.
inline constexpr SamplingOptions greedy = {.temperature = 0};

// Logits (vocabulary) -> the probabilities (vocabulary) that a word is drawn by: those of
// softmax(logits / temperature), of the words kept, made to sum to 1; exactly 0 for the others.
// top_p is nucleus sampling (Holtzman et al. 2020): the fewest words whose shares add up to p.
// Among equal logits the lower id counts as likelier, so that greedy takes the lowest. A logit of
// -inf has probability 0. Not recorded by a tape.
//
// Throws Error for a temperature below 0, top_k below 0, top_p outside (0, 1], another rank than
// 1, a logit that is NaN or +inf, or none above -inf.
Tensor sampling_probabilities(const Tensor& logits, const SamplingOptions& options = {});

// Draws an id (uses one random.uniform()) by probabilities (vocabulary), which need not sum to 1.
// Throws Error for another rank, a probability that is negative, NaN or infinite, or all 0.
std::int32_t sample(const Tensor& probabilities, Random& random);

// The logits (vocabulary) of the word that follows `ids` (length). A model that sees only so many
// positions is given the last ones; one with a cache reads what it has not seen yet.
using NextLogits = std::function<Tensor(const Indices& ids)>;

// One word being chosen, to be looked at.
struct GenerationStep {
  const Indices& ids;           // the text so far, (length)
  const Tensor& logits;         // (vocabulary), from the model
  const Tensor& probabilities;  // (vocabulary), after temperature, top_k and top_p
  std::int32_t chosen;
};

struct GenerationOptions {
  SamplingOptions sampling = {};
  Index max_new_tokens = 20;  // at most so many new words
  std::int32_t eos = -1;      // the word after which to stop, such as Vocabulary::eos; -1: none
  std::function<void(const GenerationStep& step)> after_step = {};  // called for each new word
};

// The prompt (length) and the words that follow, with `eos` as the last one if it came. An `eos`
// in the prompt stops nothing. Throws Error for an empty prompt or one of another rank than 1, a
// negative length, and as sampling_probabilities does.
Indices generate(const NextLogits& next_logits, const Indices& prompt, Random& random,
                 const GenerationOptions& options = {});

}  // namespace tapestry
