// Colour quantisation: one palette for many pictures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tapestry/plot/colour.hpp"

namespace tapestry::plot {

// Colours are counted in bins of 4 × 4 × 4 neighbours; opacity does not count.
inline constexpr int bin_bits = 6;
inline std::size_t bin_of(Colour colour) {
  constexpr int drop = 8 - bin_bits;
  return static_cast<std::size_t>(colour.r >> drop) << (2 * bin_bits) |
         static_cast<std::size_t>(colour.g >> drop) << bin_bits |
         static_cast<std::size_t>(colour.b >> drop);
}

class Palette {
 public:
  void count(Colour colour);
  // Chooses at most `most` colours (1 to 256) for all that were counted.
  void choose(std::size_t most);

  const std::vector<Colour>& colours() const { return colours_; }
  // The palette index for `colour`, which was counted.
  std::uint8_t place_of(Colour colour) const { return place_[bin_of(colour)]; }

 private:
  struct Sum {
    std::uint64_t count = 0, r = 0, g = 0, b = 0;
  };
  std::vector<Sum> sums_ = std::vector<Sum>(std::size_t{1} << (3 * bin_bits));
  std::vector<Colour> colours_;
  std::vector<std::uint8_t> place_;  // per bin
};

}  // namespace tapestry::plot
