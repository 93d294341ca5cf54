// 53a. When did the loss fall for good?
//
// "The loss falls" is no moment. Set a mark: a part of the way from the first value to the last,
//
//   mark = first + part (last - first)
//
// A value is beyond the mark if it has made that part of the way: at or above the mark if the curve
// ends higher than it began, at or below it if the curve ends lower. Curves go back and forth, so
// what is asked for is the crossing that lasts: the smallest i for which value i and all after it
// are beyond the mark.
//
//   curve   (n): a measured value for each step, a loss or an entropy or a score
//   part    between 0 and 1: 0.5 for half of the way
//   ->      i, counted from 0; n if there is no such i
//
// Lesson: tutorials/phase5_experiments/2_where_heads_look.md, section 53
#include "phase5.hpp"

namespace learn {

Index stays_beyond(const Tensor& curve, double part) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
