// The peers: OpenBLAS and oneDNN, called in this process on the same arrays.
#pragma once

#include <string>
#include <vector>

#include "row.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry::bench {

// Peers use the instructions of our kernel set, no fewer and no more: with avx512 their best, with
// avx2 no AVX-512. OpenBLAS chooses its kernels once, when the program starts: an old version falls
// back to slow ones on a new processor, and a variable that was set for another purpose may
// choose slow ones, too. If its choice is wrong, this starts the program again with another
// (OPENBLAS_CORETYPE). PyTorch inherits these choices.
void hold_peers_to_our_instructions(char** arguments);

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

// oneDNN's primitives. Each holds its arguments and its result. Each backward pass runs after its
// forward pass, as ours does; only the backward pass is timed.
Contestant onednn_batched(const Tensor& a,
                          const Tensor& b);  // (batch, m, k) (batch, k, n), any strides
Contestant onednn_softmax(const Tensor& x);
Contestant onednn_softmax_backward(const Tensor& x, const Tensor& dy);
Contestant onednn_gelu(const Tensor& x);
Contestant onednn_gelu_backward(const Tensor& x, const Tensor& dy);
Contestant onednn_layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias);
Contestant onednn_layer_norm_backward(const Tensor& x, const Tensor& gain, const Tensor& bias,
                                      const Tensor& dy);

}  // namespace tapestry::bench
