// What `tapestry train` with tokens learns: a text as tokens, and the model.
#pragma once

#include <string>
#include <vector>

#include "commands.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/text/byte_pairs.hpp"
#include "tapestry/text/tokenizer.hpp"

namespace tapestry::command {

struct Lesson {
  Tokenizer tokenizer;
  std::vector<BytePair> merges;  // of a new tokenizer
  std::string architecture;
  Transformer model;
  Index length;
  Indices train, held_out;  // (n) tokens each
  double held_out_bytes = 0;
};

// With a new model, or that of --model. Throws Error for sizes that do not fit, a model that is no
// decoder, a text that is too short, and as reading them does.
Lesson make_lesson(const TrainOptions& options);

// Mean loss of the held-out tokens, of at most 64 pieces, in nats; and so many bits per byte.
double held_out_loss(const Lesson& lesson);
double bits_per_byte(const Lesson& lesson, double loss);

// How the model goes on after the first held-out tokens, in one line.
std::string sample_of(const Lesson& lesson, Index step);

}  // namespace tapestry::command
