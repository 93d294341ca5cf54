// The picture of step 46: what a model expects behind a text.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"

namespace tapestry {

// The words that the grammar allows behind a text, each with its probability.
using WordShares = std::map<std::string, double>;

// Two charts side by side. Left, the model's probability of each of these words, at temperature 1,
// beside the grammar's. Right, the model's at the temperatures 0.5, 1 and 2; the last number of
// each list is that of all other words together. Throws Error unless there are three lists, of one
// number more than words are allowed.
plot::Canvas generation_picture(const std::string& text, const WordShares& allowed,
                                const std::vector<std::vector<double>>& by_temperature);

}  // namespace tapestry
