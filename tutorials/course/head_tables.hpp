// What it costs to cut heads, in the tables of step 78.
#pragma once

#include <vector>

#include "course/head_kinds.hpp"
#include "course/head_pictures.hpp"

namespace tapestry {

// Heads cut alone: the best of each kind, the one that costs most, and the mean of all. By how much
// ln p of a token falls, read again and behind another piece; and the place of the head among all,
// by the first of these.
void print_single_cuts(const HeadStudy& study);

// Heads cut together, a line for each sort of texts: joint, sum, means; others with their
// deviation, and their sum.
void print_costs(const std::vector<GroupCost>& costs);

}  // namespace tapestry
