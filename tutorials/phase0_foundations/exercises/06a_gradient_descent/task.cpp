// 06a. Gradient descent
//
// The gradient says in which direction a function grows fastest. To make it smaller, go the other
// way, in proportion to the gradient; then compute the gradient at the new place, and go on:
//
//   w = w - rate * gradient(w),   `steps` times
//
//   start      (n), must not change: a Tensor shares its numbers with its copies
//   gradient   a function: gradient(w) is the gradient at w, (n)
//   rate       the learning rate
//   steps      how many steps to make
//   ->         (n), the weights after the last step
//
// Operations of the library are allowed: w - 0.1 * g makes a new tensor. If you write numbers one
// by one instead, begin with start.clone(), and compute the gradient once a step: all numbers of w
// move together.
// Lesson: tutorials/phase0_foundations/README.md, "06 Downhill"
#include "phase0.hpp"

namespace learn {

Tensor gradient_descent(const Tensor& start, const GradientAt& gradient, double rate, Index steps) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
