// Small models that learn from a real text: for step 75 and its experiment.
#pragma once

#include <functional>
#include <string>

#include "tapestry/nn/transformer.hpp"
#include "tapestry/tensor.hpp"
#include "tapestry/text/tokenizer.hpp"

namespace tapestry::text_runs {

constexpr Index merges = 512, length = 128, rows = 8;  // windows of `length` tokens, 8 in a batch

// Merges and models learn from nine tenths of the text; the last tenth is held out.
struct Text {
  std::string learned, held_out;  // bytes
  Tokenizer tokenizer;
  Indices train, test;  // (tokens) of the two
};

// Throws Error if the last tenth has fewer than 2 * length tokens.
Text text_of(const std::string& bytes);

// Of every ten pieces of so many ids the first. ids (n)
Indices every_tenth(const Indices& ids, Index piece);

// Measured on 64 windows or fewer, spread evenly; what they predict is counted in bytes. ids (n)
double bits_per_byte(const Transformer& model, const Tokenizer& tokenizer, const Indices& ids);
// Of the tokens that these windows predict.
double bytes_per_token(const Tokenizer& tokenizer, const Indices& ids);

// Of step 71, "all six" but grouped queries: the block of `tapestry train FILE --merges N`.
TransformerOptions of_today(Index words);
// With the width of the feed-forward layers that gives about as many parameters.
TransformerOptions of_2017(Index words);

struct Run {
  TransformerOptions options;
  Indices seen;  // (tokens) of the training text
  Index steps;
  Index seed = 1;         // of the first parameters and of the windows
  std::string what = "";  // begins the progress line; "": none
};

// `look` gets the model before the first step and after each one.
Transformer train_on_text(const Run& run,
                          const std::function<void(const Transformer&, Index step)>& look = {});

// What a model writes behind "\n\nThe", at temperature 0.8: `count` tokens.
std::string written(const Transformer& model, const Text& text, Index count, Index seed);

// The control: each token is drawn by how often it stands in the text to learn from.
std::string written_by_frequency(const Text& text, Index count, Index seed);

// The share of the words of three and more letters that stand in `known`; NaN without such words.
double known_words(const std::string& text, const std::string& known);

}  // namespace tapestry::text_runs
