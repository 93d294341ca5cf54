// What ranks have and do, as pictures: for steps 80 and 86.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "course/sum_rank.hpp"
#include "tapestry/plot/canvas.hpp"

namespace tapestry {

// What is to be seen of a sum over ranks at one moment.
struct SumState {
  std::string title, caption;
  std::vector<std::vector<float>> vectors;  // of each rank, all of one length
  std::vector<Sent> sent;                   // just now
};

// Of a sum with that title, by what each rank did: the end of one of its steps, or how it ended if
// `step` is larger. Nothing is sent then.
SumState state_after(const std::string& title, const std::vector<SumRecord>& ranks,
                     std::size_t step);

// Side by side for each state its title and caption, and below them a row of cells for each rank,
// its name at the left. A number is a sum of 2^r over ranks r: its cell has a stripe for each of
// them. What was sent are arrows from cell to cell. There is room for three states of four ranks,
// with four numbers each.
plot::Canvas sums_over_ranks(const std::vector<SumState>& states);

// Causal attention by tiles: tiles of queries below each other, as many of keys side by side, each
// pair in the colour of the rank that has these queries; grey where the mask hides all. The upper
// left one begins at `corner`. ranks[i]: who has tile i.
void draw_tiles(plot::Canvas& canvas, plot::Point corner, const std::vector<int>& ranks);

// A line for each rank, with a bar for each step, as long as the number work[step][rank] that
// stands in it; each has room for `most`, the largest one. The first bar begins at `corner`.
void draw_work(plot::Canvas& canvas, plot::Point corner, const std::vector<std::vector<int>>& work,
               int most);

}  // namespace tapestry
