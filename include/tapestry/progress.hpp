// A line that tells how long work goes, how fast, and how long it will still take.
#pragma once

#include <chrono>
#include <string>

#include "tapestry/real.hpp"

namespace tapestry {

// Writes to standard error, so that a program's results stay clean. On a terminal one line renews
// itself; elsewhere (a pipe, a file) about five lines come in all.
//
//   Progress progress("training", 1000, "steps");
//   for (Index step = 0; step < 1000; ++step) { ...; progress.step("loss 1.23"); }
class Progress {
 public:
  // `total` counts steps of the kind that `unit` names.
  Progress(std::string what, Index total, std::string unit);
  ~Progress();  // ends the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(const std::string& note = "");  // one more is done
  double seconds() const;                   // since the start

 private:
  void print(const std::string& note);

  std::string what_, unit_;
  Index total_, done_ = 0;
  bool terminal_;
  double last_print_ = -1;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace tapestry
