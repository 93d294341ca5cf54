// What both halves of the laboratory ask of its sizes.
#pragma once

#include "tapestry/laboratory.hpp"

namespace tapestry {

// Throws Error for a size below 1 (window, global: below 0).
void check(const LaboratorySizes& sizes);

}  // namespace tapestry
