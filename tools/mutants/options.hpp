// The command line.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace mutants {

struct Options {
  std::uint64_t seed = 1;
  std::size_t count = 250;
  std::pair<std::size_t, std::size_t> share = {1, 1};  // of all mutants: {3, 10} is the third tenth
  std::string only;                                    // only those in files that begin so
  bool list = false;                                   // draw, and run nothing
  std::string lines;  // a folder with lists of the lines compiled here
  std::string sites;  // list the sites of this file, and nothing else
};

// Throws std::runtime_error with one line; ends the program after --help.
Options options_of(int count, char** values);

}  // namespace mutants
