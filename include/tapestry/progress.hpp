// A progress line: steps done, speed, and time left.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "tapestry/real.hpp"

namespace tapestry {

struct ProgressOptions {
  Index done = 0;    // steps made before, by an earlier run; the speed does not count them
  Index tokens = 0;  // in each step: the speed is then in tokens per second
  // true: one line, updated in place; false: separate lines. Default: whether stderr is a terminal.
  std::optional<bool> live = {};
};

// Writes to standard error, so that a program's results stay clean. On a terminal it updates one
// line in place, cut at 79 characters; elsewhere (a pipe, a file) it prints about five lines in
// all, uncut.
//
//   Progress progress("training", 1000, "steps");
//   for (Index step = 0; step < 1000; ++step) { ...; progress.step("loss 1.23"); }
//
//   training 200/1000 steps, 310/s, 2.6 s left  loss 1.23
class Progress {
 public:
  // `total` counts steps in `unit`, those made before included.
  Progress(std::string what, Index total, std::string unit, const ProgressOptions& options = {});
  ~Progress();  // ends the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(const std::string& note = "");  // one more is done
  [[nodiscard]] double seconds() const;     // since the start

 private:
  void print(const std::string& note);

  std::string what_, unit_;
  Index total_, before_, tokens_, done_;
  bool live_;
  double last_print_ = -1;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace tapestry
