// Snapshot tests: pictures as they were at the last inspection.
//
// Such a test tells only *that* a picture changed, not which one is right: the other files of this
// folder test the meaning of pictures. It finds what has no test of its own: a margin, a tick, a
// label half a cell off. After an intended change, inspect the picture that the failure names, and
// enter the new fingerprint.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"

namespace tapestry::plot {

// A hash of the size and all pixels: FNV-1a, 64 bits. The same with every compiler and machine,
// since pictures are.
std::uint64_t fingerprint(const std::vector<Canvas>& frames);

// Fails if the picture (or a frame of an animation) has another fingerprint; then it writes the
// picture to the folder for temporary files, and the message gives the path and the fingerprint.
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
