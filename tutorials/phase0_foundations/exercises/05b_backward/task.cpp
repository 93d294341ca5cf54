// 05b. The backward pass
//
// Compute the gradient of a result by every value on the tape of 05a. `result` is the number of
// its record; its own gradient is 1. Each record then hands its gradient to its inputs, times the
// slope; what arrives at a record from several sides is added up:
//
//   records[input.record].gradient += records[i].gradient * input.slope
//
// A record may hand on its gradient only when all that use it have handed on theirs. Inputs are
// always earlier records, so one loop from `result` down to record 0 does it.
//
//   tape     the records; their gradients hold old numbers from before: begin by setting all to 0
//   result   there may be later records, too; their gradients are 0
//
// Lesson: tutorials/phase0_foundations/README.md, "05 A tape of our own"
#include "phase0.hpp"

namespace learn {

void scalar_backward(ScalarTape& tape, std::size_t result) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
