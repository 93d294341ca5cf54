#include "tapestry/closest.hpp"

#include <algorithm>
#include <numeric>

namespace tapestry {

int edit_distance(std::string_view a, std::string_view b) {
  // distance[j] is that of the letters of a so far to the first j letters of b.
  std::vector<int> distance(b.size() + 1);
  std::iota(distance.begin(), distance.end(), 0);
  for (const char letter : a) {
    int diagonal = distance[0]++;  // of one letter less, of both
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = diagonal + (letter == b[j - 1] ? 0 : 1);
      diagonal = distance[j];
      distance[j] = std::min({replaced, distance[j] + 1, distance[j - 1] + 1});
    }
  }
  return distance.back();
}

std::string closest(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t longest = 200;  // longer ones are not typing errors
  std::string best;
  if (word.size() > longest) return best;
  int least = static_cast<int>(word.size()) / 2 + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > longest) continue;
    const int distance = edit_distance(word, candidate);
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

}  // namespace tapestry
