// The command line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tapestry::bench {

struct Options {
  std::string rows;                // as it was given
  std::vector<std::string> words;  // of rows, split
  std::vector<int> threads;        // empty: 1 and all
  double seconds = 0.6;
  std::filesystem::path out = "out";
  std::string python = "python3";  // for the shell; with PyTorch it is a peer
  bool list = false;

  bool ask_for(const std::string& name) const;  // whether --rows names this row
};

// Ends the program: with status 2 and one line where it cannot understand, with 0 after --help.
Options read_options(int count, char** words);
[[noreturn]] void refuse(const std::string& problem);

}  // namespace tapestry::bench
