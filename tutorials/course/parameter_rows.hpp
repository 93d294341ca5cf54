// All numbers of a model as one row: what the ranks of phase 8 send each other, add and compare.
#pragma once

#include <cstddef>
#include <vector>

#include "tapestry/tape.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// The numbers of one tensor behind those of another, in the order of a list; each row-major.
using Row = std::vector<real>;

Row row_of(const Parameters& parameters);
Row row_of(const Gradients& gradients);  // in the order in which the tape was given its tensors

// The way back: for each parameter a tensor of its shape, as Optimizer::step takes gradients.
// Throws Error unless the row has as many numbers as all parameters together.
std::vector<Tensor> tensors_of(const Row& row, const Parameters& parameters);

// At how many places two rows have different numbers; a NaN is unlike any. Throws Error unless both
// are of one length, and so do the next two.
std::size_t different(const Row& a, const Row& b);

// The length of a - b (the root of the sum of squares), added in double.
double distance(const Row& a, const Row& b);

// The largest difference at one place, as a part of the largest size of a number of `b`; no number:
// NaN.
double largest_relative(const Row& a, const Row& b);

// The root of the sum of squares, added in double.
double length_of(const Row& row);

// The sum of rows of one length, element by element: from left to right, or in the fixed tree over
// them (step 81, tapestry/distributed/fixed_tree.hpp). Throws Error without a row, and unless all
// are of one length.
Row sum_in_order(const std::vector<Row>& rows);
Row sum_in_tree(std::vector<Row> rows);

}  // namespace tapestry
