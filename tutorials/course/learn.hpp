// What a learner's file of an exercise includes, through the header of its phase: the library, and
// what a function says until it is written.
#pragma once

#include <cmath>
#include <vector>

#include "tapestry/tapestry.hpp"

namespace tapestry {

struct NotWrittenYet {};

}  // namespace tapestry

// The learner's functions; their declarations stand in tutorials/phase*/exercises/phaseN.hpp.
namespace learn {

using namespace tapestry;

[[noreturn]] inline void not_written_yet() { throw NotWrittenYet(); }

}  // namespace learn
