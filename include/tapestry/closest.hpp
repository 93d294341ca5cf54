// The closest spelling, for messages that say "did you mean".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tapestry {

// Edit distance: how many letters to insert, remove or replace to turn a into b (Levenshtein 1966).
[[nodiscard]] int edit_distance(std::string_view a, std::string_view b);

// The candidate at the smallest distance, the earlier one of equals; empty if even that one
// differs in more than half of the word's letters.
[[nodiscard]] std::string closest(std::string_view word,
                                  const std::vector<std::string>& candidates);

}  // namespace tapestry
