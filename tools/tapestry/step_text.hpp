// The steps of a tape as text of at most 80 columns, and which key leads to which step.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tapestry/tape_steps.hpp"

namespace tapestry::command {

// Forward and backward together; they are counted from 0.
std::size_t step_count(const TapeSteps& steps);

// The program with a mark at the line of this step, the record, its numbers and those of its
// inputs; in the backward pass what it adds to the gradient of each input, and what that then is.
// At the first number that is not finite, also its causes. Whole lines, which command no terminal.
std::string step_text(const TapeSteps& steps, std::size_t step);

struct Stepping {
  std::size_t step = 0;
  bool ends = false;
  std::string_view word = "";  // of the last key, for the user
};

// One line: what the keys do.
extern const char* const step_keys;

// After these bytes from a terminal: n, Enter, blank or right: forward; p or left: back; b: the
// begin of the backward pass; f: the first number that is not finite; q, Ctrl-C or Ctrl-D: the end.
// Others do nothing.
Stepping after_keys(const TapeSteps& steps, Stepping now, std::string_view bytes);

}  // namespace tapestry::command
