// The peers: OpenBLAS and oneDNN, called in this process on the same arrays.
#pragma once

#include <string>
#include <vector>

#include "row.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry::bench {

// OpenBLAS chooses its kernels once, when the program starts, and a version older than the
// processor may fall back to slow ones. If so, this starts the program again with better ones
// (OPENBLAS_CORETYPE); it returns when the choice is good, or made by the user.
void give_openblas_its_best(char** arguments);

std::string openblas_version();
std::string openblas_core();  // whose kernels it uses
std::string onednn_version();

// How many threads the library and its peers use from now on.
void use_threads_everywhere(int count);

// c (m, n) = a (m, k) b (k, n), or b transposed: b (n, k). Row-major, contiguous.
struct Product {
  Index m, n, k;
  bool b_transposed = false;
};
std::vector<Contestant> product_peers(const Product& product, const Tensor& a, const Tensor& b);

// oneDNN's primitives. Each holds its arguments and its result.
Contestant onednn_batched(const Tensor& a,
                          const Tensor& b);  // (batch, m, k) (batch, k, n), any strides
Contestant onednn_softmax(const Tensor& x);
Contestant onednn_softmax_backward(const Tensor& y, const Tensor& dy);
Contestant onednn_gelu(const Tensor& x);
Contestant onednn_gelu_backward(const Tensor& x, const Tensor& dy);
Contestant onednn_layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias);
Contestant onednn_layer_norm_backward(const Tensor& x, const Tensor& gain, const Tensor& bias,
                                      const Tensor& dy);

}  // namespace tapestry::bench
