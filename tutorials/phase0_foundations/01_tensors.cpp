// Step 01. What is a tensor, really?
//
// New here: shape, strides, views, broadcasting. A tensor is a row of numbers in memory plus a rule
// that says which number stands at which position. Most operations that rearrange a tensor change
// only the rule.
// Writes no picture; takes less than a second.
#include <iostream>

#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tensor.hpp"

using namespace tapestry;

namespace {

void print_layout(const char* name, const Tensor& x) {
  std::cout << name << ": shape " << x.shape() << ", strides (";
  for (int axis = 0; axis < x.ndim(); ++axis) {
    std::cout << (axis > 0 ? ", " : "") << x.strides()[static_cast<std::size_t>(axis)];
  }
  std::cout << "), starts at " << x.offset() << "\n";
}

const char* same_memory(const Tensor& a, const Tensor& b) {
  return a.buffer() == b.buffer() ? "the same memory" : "memory of its own";
}

void shape_and_strides(const Tensor& x) {
  std::cout << "1. A shape over a row of numbers\n" << x << "\n";
  print_layout("x", x);
  const Index i = 1, j = 2;
  const Index place = i * x.strides()[0] + j * x.strides()[1];
  std::cout << "x(1, 2) stands at 1*" << x.strides()[0] << " + 2*" << x.strides()[1] << " = "
            << place << ", and number " << place << " in memory is " << x.data()[place] << "\n\n";
}

void views(const Tensor& x) {
  std::cout << "2. Views: another rule for the same numbers\n";
  const Tensor turned = transpose(x);       // (3, 2)
  const Tensor column = slice(x, 1, 1, 2);  // (2, 1)
  const Tensor flat = reshape(x, {6});      // (6)
  print_layout("transpose(x)     ", turned);
  print_layout("slice, column 1  ", column);
  print_layout("reshape to (6)   ", flat);
  std::cout << "transpose(x) uses " << same_memory(x, turned)
            << "; so does the slice, and reshape.\n"
            << "Writing 99 through the transpose at (2, 1) changes x at (1, 2): ";
  Tensor writable = turned;  // (3, 2): a copy of the handle; the numbers stay shared
  writable.set({2, 1}, 99);
  std::cout << x.at({1, 2}) << "\n";
  writable.set({2, 1}, 6);
  const Tensor back = reshape(turned, {6});  // (6)
  std::cout << "But transpose(x), read row by row, is no even walk through memory,\n"
            << "so reshaping it has to copy: it got " << same_memory(x, back) << ".\n\n";
}

void same_shape_other_meaning(const Tensor& x) {
  std::cout << "3. The same shape is not the same meaning\n"
            << "transpose(x):\n"
            << transpose(x) << "\n"
            << "reshape(x, {3, 2}):\n"
            << reshape(x, {3, 2}) << "\n"
            << "Both are (3, 2). Only one of them has x's rows as columns.\n\n";
}

void broadcasting(const Tensor& x) {
  std::cout << "4. Broadcasting: a missing axis is repeated, by a stride of 0\n";
  const Tensor row({3}, {10, 20, 30});           // (3)
  std::cout << "x + row:\n" << x + row << "\n";  // (2, 3)
  print_layout("row seen as (2, 3)", expand(row, {2, 3}));
  std::cout << "\n";
}

void errors(const Tensor& x) {
  std::cout << "5. When shapes do not fit, the message says why\n";
  try {
    (void)matmul(x, x);  // (2, 3) times (2, 3): inner sizes differ
  } catch (const Error& error) {
    std::cout << error.what() << "\n";
  }
  try {
    (void)(x + Tensor::ones({2}));  // (2, 3) plus (2): last sizes differ
  } catch (const Error& error) {
    std::cout << error.what() << "\n";
  }
}

}  // namespace

int main() {
  std::cout << "Step 01: tensors (takes less than a second)\n\n";
  const Tensor x({2, 3}, {1, 2, 3, 4, 5, 6});  // (2, 3)
  shape_and_strides(x);
  views(x);
  same_shape_other_meaning(x);
  broadcasting(x);
  errors(x);
  std::cout << "\nIn one line: " << summary(x) << "\n";
}
