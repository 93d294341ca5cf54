// 12a. Attention: all queries at once
//
// The queries are the rows of a matrix, so are the keys and their values. Every query meets every
// key:
//
//   scores   = q k^T / sqrt(d)              (m, n): row i has the scores of query i
//   weights  = softmax of each row          (m, n): each row sums to 1
//   output   = weights v                    (m, d): row i mixes the values for query i
//
//   q        (m, d)
//   k        (n, d)
//   v        (n, d)
//
// Two functions: the first gives the weights, the second the output. You may use matmul(a, b),
// transpose(x), and softmax(x, axis), which makes the sums along that axis 1; axis 0 are the
// rows, axis 1 the columns. Or loops, as before. Not the library's attention().
// Lesson: tutorials/phase1_one_head/README.md, "12 All queries at once"
#include "phase1.hpp"

namespace learn {

// -> (m, n)
Tensor weights_of_all(const Tensor& q, const Tensor& k) {
  // Yours.
  not_written_yet();
}

// -> (m, d)
Tensor attention_forward(const Tensor& q, const Tensor& k, const Tensor& v) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
