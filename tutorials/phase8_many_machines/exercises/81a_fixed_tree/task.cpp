// 81a. A sum in one fixed tree
//
// Adds numbers in the one order that step 81 calls the tree. A node over n >= 2 addends is
//
//   add(node over the first m, node over the others),   m the largest power of two below n
//
// and a node over one addend is that addend. `add` stands for the + of floats, whose result depends
// on the order; the check calls the function with an addition that shows the order plainly.
//
//   addends   n >= 1 numbers
//   add       the addition: add(left, right)
//   ->        the sum at the top
//
// Lesson: tutorials/phase8_many_machines/README.md, "81 The order of a sum"
#include <vector>

#include "phase8.hpp"

namespace learn {

double fixed_tree_sum(const std::vector<double>& addends, const Addition& add) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
