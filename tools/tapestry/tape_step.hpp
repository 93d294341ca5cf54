// Stepping through a tape, on a terminal by keys.
#pragma once

#include "tapestry/tape_steps.hpp"

namespace tapestry::command {

// On a terminal one step at a time, by the keys of step_text.hpp, until the user quits; elsewhere
// prints all steps one after the other. Throws Error if there is none.
void step_through(const TapeSteps& steps);

}  // namespace tapestry::command
