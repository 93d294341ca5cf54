// A line that tells how long work goes, how fast, and how long it will still take.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "tapestry/real.hpp"

namespace tapestry {

struct ProgressOptions {
  Index done = 0;    // steps made before, by an earlier run; the speed does not count them
  Index tokens = 0;  // in each step: the speed is then told in tokens per second
  // One line that renews itself, or lines; by default as standard error is a terminal, or not.
  std::optional<bool> live = {};
};

// Writes to standard error, so that a program's results stay clean. On a terminal one line renews
// itself, cut at 79 characters; elsewhere (a pipe, a file) about five lines come in all, as long as
// they are.
//
//   Progress progress("training", 1000, "steps");
//   for (Index step = 0; step < 1000; ++step) { ...; progress.step("loss 1.23"); }
//
//   training 200/1000 steps, 310/s, 2.6 s left  loss 1.23
class Progress {
 public:
  // `total` counts steps of the kind that `unit` names, those made before included.
  Progress(std::string what, Index total, std::string unit, const ProgressOptions& options = {});
  ~Progress();  // ends the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(const std::string& note = "");  // one more is done
  double seconds() const;                   // since the start

 private:
  void print(const std::string& note);

  std::string what_, unit_;
  Index total_, before_, tokens_, done_;
  bool live_;
  double last_print_ = -1;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace tapestry
