// The pictures of step 61: sinusoids, and ways to tell positions beyond the length of training.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry::beyond_length {

// Shares of right answers, from 0 to 1, by length. shares[s], (seeds, lengths): of scheme s; their
// mean is a line, and each seed is dots. `without_order`: a grey line, one share for each length.
// `chance`: dashed. Lengths and schemes are those of beyond_length.hpp.
plot::LineChart shares_chart(const std::string& title, const std::vector<Tensor>& shares,
                             const std::vector<double>& without_order, double chance);

// Above, sinusoids `p` (positions, width): the columns 0, 4, 8 and 12 as lines, all of them as a
// map, and of some positions m how alike the others are: alike[m], (positions, 1), a line each.
// Below, the two charts. Throws Error for less than 13 columns, and for no m.
plot::Canvas positions_picture(const Tensor& p, const std::map<Index, Tensor>& alike,
                               const plot::LineChart& first, const plot::LineChart& second);

}  // namespace tapestry::beyond_length
