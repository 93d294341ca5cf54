// The functions that the exercises of phase 0 ask for, and the types that they are given.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "course/learn.hpp"

namespace tapestry {

// 01a: where the elements of a tensor stand in memory. Element (i, j, ...) is number
// start + i * strides[0] + j * strides[1] + ...
struct Layout {
  std::vector<Index> shape, strides;
  Index start = 0;
};

// 03c: the gradients of both factors of a matrix product.
struct MatmulGradients {
  Tensor da, db;
};

// 05: a tape for single numbers, as the lesson writes it.
struct ScalarInput {
  std::size_t record;  // which earlier record
  double slope;        // the derivative of this record's value by that one's
};
struct ScalarRecord {
  double value;
  std::vector<ScalarInput> inputs;
  double gradient = 0;  // of the result by this value
};
struct ScalarTape {
  std::vector<ScalarRecord> records = {};
};

// 05c, 05d, 06a: a function from a tensor to a number, and one from a tensor to the gradient there.
using NumberOf = std::function<double(const Tensor& x)>;
using GradientAt = std::function<Tensor(const Tensor& x)>;

// 07b, 07c: what Adam remembers of the steps made so far; tensors shaped like the weights.
struct AdamMemory {
  Tensor mean, square;
  Index steps = 0;
};

}  // namespace tapestry

namespace learn {

std::vector<Index> strides_of(const std::vector<Index>& shape);            // 01a
Index place_of(const Layout& layout, const std::vector<Index>& position);  // 01a
Layout transposed_layout(const Layout& layout);                            // 01a
Tensor broadcast_add(const Tensor& a, const Tensor& b);                    // 01b
Tensor broadcast_backward(const Tensor& dy, const Shape& shape);           // 01c

Tensor matmul_forward(const Tensor& a, const Tensor& b);                              // 03a
void matmul_accumulate(Tensor& c, const Tensor& a, const Tensor& b);                  // 03b
MatmulGradients matmul_backward(const Tensor& dc, const Tensor& a, const Tensor& b);  // 03c
Tensor matmul_blocked(const Tensor& a, const Tensor& b);                              // 03d

Tensor softmax_forward(const Tensor& scores);                                 // 04a
Tensor softmax_backward(const Tensor& dy, const Tensor& y);                   // 04b
double cross_entropy_forward(const Tensor& logits, const Indices& targets);   // 04c
Tensor cross_entropy_backward(const Tensor& logits, const Indices& targets);  // 04d
Tensor gelu_forward(const Tensor& x);                                         // 04e
Tensor gelu_backward(const Tensor& dy, const Tensor& x);                      // 04e

std::size_t scalar_add(ScalarTape& tape, std::size_t a, std::size_t b);       // 05a
std::size_t scalar_multiply(ScalarTape& tape, std::size_t a, std::size_t b);  // 05a
void scalar_backward(ScalarTape& tape, std::size_t result);                   // 05b
Tensor numerical_gradient(const NumberOf& f, const Tensor& x, double h);      // 05c
bool gradient_passes(const NumberOf& f, const GradientAt& gradient);          // 05d

Tensor gradient_descent(const Tensor& start, const GradientAt& gradient, double rate,
                        Index steps);  // 06a

void momentum_step(Tensor& weight, const Tensor& gradient, Tensor& velocity, double rate,
                   double momentum);                                                      // 07a
void adam_step(Tensor& weight, const Tensor& gradient, AdamMemory& memory, double rate);  // 07b
void adamw_step(Tensor& weight, const Tensor& gradient, AdamMemory& memory, double rate,
                double decay);  // 07c

}  // namespace learn
