// The pictures of steps 77 and 73: what one more token costs, and how probable tokens were.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"

namespace tapestry {

// Two lines over the number of tokens before it: milliseconds for one more token, when all are read
// again and with the cache (on a logarithmic axis). Throws Error unless all three lists have one
// length, above 0.
plot::Canvas times_of_a_token(const std::vector<double>& before, const std::vector<double>& again,
                              const std::vector<double>& cached);

// A text as tokens, each with its probability.
struct TokenBars {
  std::string title;
  std::vector<std::string> tokens;  // bytes
  std::vector<double> p;
};

// The texts below each other: a bar for each of their first `count` tokens, from 0 to 1. The blank
// in front of a word is written ␣. Throws Error without texts, and for one of fewer tokens or p.
plot::Canvas bars_of_tokens(const std::vector<TokenBars>& texts, std::size_t count);

}  // namespace tapestry
