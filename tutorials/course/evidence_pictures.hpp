// What step 33 shows of patterns: a line of its table for each head, and a map of all scores.
#pragma once

#include <string>
#include <vector>

#include "tapestry/analysis/evidence.hpp"
#include "tapestry/plot/heatmap.hpp"

namespace tapestry {

// The head's number, the name that it may have, and the evidence for that: its score, in how many
// sentences it holds, the score untrained, of even weights and in mixed words; where place and
// letter disagree, the weights on both ("-" if no word comes twice). Blanks if it has no name, or
// one that is no pattern. `fall`: of the log-probability without the head.
std::string evidence_line(const std::string& number, const std::vector<Evidence>& head,
                          double fall);

// A row for each head, a column for each of the first patterns of all_patterns: the scores, row by
// row. NaN is masked. Throws Error unless there are so many.
plot::Heatmap evidence_map(const std::vector<std::string>& heads, std::size_t patterns,
                           const std::vector<double>& scores);

}  // namespace tapestry
