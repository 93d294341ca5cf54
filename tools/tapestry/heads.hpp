// The heads of a model that read a text, as analyze and hand print them.
#pragma once

#include <string>
#include <vector>

#include "cuts.hpp"
#include "detectors.hpp"
#include "subject.hpp"
#include "tapestry/capture.hpp"

namespace tapestry::command {

struct Head {
  Index layer, number;
  Tensor weights;  // (queries, keys)
  Mask mask;

  std::string name() const {
    return "layer " + std::to_string(layer) + ", head " + std::to_string(number);
  }
};

// Those of one text that the model read with need_weights, while `seen` was recording; of one layer
// or one head, or all if it is -1. Throws Error for more than 64 layers, or heads, at once.
std::vector<Head> heads_of(const Subject& subject, const Capture& seen, Index layer, Index head);

// "0.98 ±0.02", or "-" for no row that counts.
std::string score_text(const Spread& score);

// All patterns of one head; of several heads one each, with the name that it deserves: the pattern
// that is asked for, "" for the best. `cuts` may be empty.
void print_detectors(const Detected& found, const std::vector<Head>& heads, const Cuts& cuts,
                     const std::string& asked);

// What its columns mean, for so many untrained models.
void print_legend(int baselines);

// The weights of a head, as many as fit.
void print_map(const Head& head, const Words& words);

// The five likeliest words after the text, or for each <mask>, as the model was trained.
void print_guesses(const Subject& subject, const Reading& reading, const Tensor& logits);

}  // namespace tapestry::command
