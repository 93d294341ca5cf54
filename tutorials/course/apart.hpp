// Runs an attempt at an exercise in a process of its own, so that nothing that it does reaches the
// judge: an endless loop, a crash, exit(0), memory without end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "course/exercise.hpp"

namespace tapestry {

struct Case {
  std::uint64_t seed;
  Index size;
};

// What one case came to.
struct Outcome {
  enum Kind : std::uint8_t { returned, not_written, threw, changed_input };
  Kind kind = returned;
  std::string text = {};  // of what was thrown, or the name of the input that was changed
  NamedTensors results = {};
};

struct Apart {
  enum Ending { finished, left, signalled, too_long, too_large };
  std::vector<Outcome> outcomes;  // of the cases that came to an end, in order
  Ending ending = finished;       // left: the program was ended by exit() or the like
  int signal = 0;
  std::string said;  // what was printed, standard error too; at most 64 kB of it
};

// Runs the attempt on the inputs of all cases in a child process, which is ended after `seconds`,
// or when it holds more than 1 GB of memory beyond what this process holds.
// Throws Error if there can be no such process. The caller should not have started threads.
Apart run_apart(const Exercise& exercise, const Attempt& attempt, const std::vector<Case>& cases,
                double seconds = 10);

// The inputs of a case.
NamedTensors inputs_of(const Exercise& exercise, const Case& one);

}  // namespace tapestry
