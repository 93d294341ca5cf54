// Pictures as they were when somebody last looked at them.
//
// Such a test tells only *that* a picture changed, not whether it was right before or is wrong now:
// what a picture has to mean is tested beside it, in the other files of this folder. It is here for
// what no single test would ask for: a margin, a tick, a label half a cell off. After a change that
// was meant, look at the picture that the failure names, and put the new fingerprint in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"

namespace tapestry::plot {

// Of the size and all pixels: FNV-1a, 64 bits. The same on every compiler and machine, for the same
// input gives the same bytes.
std::uint64_t fingerprint(const std::vector<Canvas>& frames);

// Fails when the picture (or one frame of a film) is not the one with this fingerprint. Then it is
// written to the folder for temporary files, and the message says where, and the new fingerprint.
void check_snapshot(const std::string& name, std::uint64_t expected,
                    const std::vector<Canvas>& frames);
inline void check_snapshot(const std::string& name, std::uint64_t expected, const Canvas& canvas) {
  check_snapshot(name, expected, std::vector<Canvas>{canvas});
}

// `count` values between low and high that look random and are the same everywhere.
std::vector<double> sample_values(std::size_t count, double low = 0, double high = 1);

// "a1", "a2" ...
std::vector<std::string> sample_words(const std::string& stem, std::size_t count);

}  // namespace tapestry::plot
