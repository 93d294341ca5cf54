// 28a. Dropout
//
// While training, dropout sets each number to 0 with the probability p, so that the model cannot
// rely on a single one. The others are divided by 1 - p, so that the mean of all stays what it
// was. When the model is used, after training, dropout does nothing.
//
//   result_ij = x_ij / (1 - p)   if training and u_ij >= p
//   result_ij = 0                if training and u_ij < p
//   result_ij = x_ij             if not training
//
//   x            (n, d)
//   u            (n, d)      random numbers between 0 and 1, given
//   p            from 0 up to, not including, 1
//   is_training  true or false
//   ->           (n, d); x itself has to stay as it is
//
// Lesson: tutorials/phase2_many_heads/README.md, "28 What is each part good for?"
#include "phase2.hpp"

namespace learn {

Tensor dropout_forward(const Tensor& x, const Tensor& u, double p, bool is_training) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
