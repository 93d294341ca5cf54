// Every differentiable operation, on one page.
//
// Shapes: (...) is any number of axes, possibly none. Two operands follow NumPy's broadcasting:
// aligned at the last axis, sizes equal or one of them 1. Axes are counted from 0, or from the
// back as -1, -2, ... A wrong shape throws Error, which names the operation, the operands and the
// rule. NaN and infinities propagate. While a tape records, each operation becomes one record; the
// comment names its derivative where that is not obvious.
//
// Each operation is implemented, forward above backward, in one file of src/ops/.
#pragma once

#include <array>
#include <concepts>
#include <initializer_list>
#include <span>
#include <vector>

#include "tapestry/random.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// ---- arithmetic (ops/arithmetic.cpp): a and b broadcast; the result has their common shape

[[nodiscard]] Tensor operator+(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor operator-(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor operator*(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor operator/(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor operator-(const Tensor& x);

// a to the power b. For a negative a, b must be whole, or the result is NaN. The gradient of b is
// 0 where a is 0 and b >= 0.
[[nodiscard]] Tensor pow(const Tensor& a, const Tensor& b);

// The angle of the point (x, y), from -pi to pi. The gradient at (0, 0) is NaN, as in PyTorch.
[[nodiscard]] Tensor atan2(const Tensor& y, const Tensor& x);

// ---- comparisons (ops/compare.cpp): 1 where true, 0 where not; a and b broadcast. With NaN only
// != is true. No gradient passes them: to a tape their results are constants, as in PyTorch.

[[nodiscard]] Tensor operator<(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor operator<=(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor operator>(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor operator>=(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor operator==(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor operator!=(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor isnan(const Tensor& x);

// ---- functions of each element (ops/elementwise.cpp): the result is shaped like x

[[nodiscard]] Tensor sqrt(const Tensor& x);  // NaN below 0; the gradient at 0 is infinite
[[nodiscard]] Tensor exp(const Tensor& x);
[[nodiscard]] Tensor log(const Tensor& x);  // natural logarithm; -inf at 0, NaN below
[[nodiscard]] Tensor sin(const Tensor& x);
[[nodiscard]] Tensor cos(const Tensor& x);
[[nodiscard]] Tensor tanh(const Tensor& x);
[[nodiscard]] Tensor erf(const Tensor& x);
[[nodiscard]] Tensor sigmoid(const Tensor& x);   // 1 / (1 + exp(-x))
[[nodiscard]] Tensor softplus(const Tensor& x);  // log(1 + exp(x)), without overflow
[[nodiscard]] Tensor relu(const Tensor& x);      // max(x, 0); the gradient at 0 is 0
// x above 0, exp(x) - 1 below (Clevert et al. 2016, alpha 1)
[[nodiscard]] Tensor elu(const Tensor& x);
// x Phi(x), Phi the normal distribution (Hendrycks & Gimpel 2016)
[[nodiscard]] Tensor gelu(const Tensor& x);
// the tanh approximation of gelu from the same paper (GPT-2)
[[nodiscard]] Tensor gelu_tanh(const Tensor& x);
[[nodiscard]] Tensor mish(const Tensor& x);  // x tanh(softplus(x)) (Misra 2019)
[[nodiscard]] Tensor silu(const Tensor& x);  // x sigmoid(x), also called swish (Llama)
[[nodiscard]] Tensor abs(const Tensor& x);   // the gradient at 0 is 0

// Steps, whose gradient is 0 everywhere, as in PyTorch.
[[nodiscard]] Tensor sign(const Tensor& x);  // -1, 0 or 1
[[nodiscard]] Tensor floor(const Tensor& x);
[[nodiscard]] Tensor ceil(const Tensor& x);
[[nodiscard]] Tensor round(const Tensor& x);  // halves to the even neighbour: round(2.5) is 2

// ---- choosing (ops/choose.cpp)

// a where condition is not 0, b where it is 0; all three broadcast. No gradient for condition.
[[nodiscard]] Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);

// value where condition is not 0, x elsewhere. condition broadcasts to x. The polarity is the one
// of other libraries: 1 marks what is *overwritten*. (Mask is the opposite: true = may attend.)
[[nodiscard]] Tensor masked_fill(const Tensor& x, const Tensor& condition, double value);

// gradient 0 outside [low, high]
[[nodiscard]] Tensor clamp(const Tensor& x, double low, double high);
[[nodiscard]] Tensor maximum(const Tensor& a, const Tensor& b);  // ties share the gradient equally
[[nodiscard]] Tensor minimum(const Tensor& a, const Tensor& b);

// ---- matrix product (ops/matmul.cpp)

// (..., m, k) times (..., k, n) -> (..., m, n). Leading axes broadcast. Transposed, sliced and
// permuted operands are read in place.
[[nodiscard]] Tensor matmul(const Tensor& a, const Tensor& b);

// activation(x weight + bias) in one pass: x (..., in), weight (in, out), bias (out) or undefined
// -> (..., out). The same numbers as matmul, +, and the activation.
enum class Activation { none, relu, gelu, gelu_tanh, silu };
[[nodiscard]] Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias,
                            Activation activation = Activation::none);

// ---- reductions (ops/reduce.cpp)

// Which axes to reduce: all of them by default, one, or several.
struct Axes {
  std::array<int, Shape::max_ndim> list{};
  int count = -1;  // -1: all

  Axes() = default;
  Axes(int axis) : list{axis}, count(1) {}
  // Several, also those that are known only when the program runs; none of them: none is reduced.
  // Throws Error for more than six.
  Axes(std::initializer_list<int> axes) : Axes(std::span(axes.begin(), axes.size())) {}
  Axes(const std::vector<int>& axes) : Axes(std::span(axes)) {}
  explicit Axes(std::span<const int> axes);
};

// With keepdims the reduced axes stay, with size 1. sum of nothing is 0, mean and var of nothing
// NaN.
[[nodiscard]] Tensor sum(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
[[nodiscard]] Tensor mean(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
// divides by n, not n - 1
[[nodiscard]] Tensor var(const Tensor& x, const Axes& axes = {}, bool keepdims = false);

// The product; of nothing 1. Its gradient divides by nothing, so that zeros do no harm.
[[nodiscard]] Tensor prod(const Tensor& x, const Axes& axes = {}, bool keepdims = false);

// Equal extremes share the gradient equally. The max of nothing is -inf, the min +inf.
[[nodiscard]] Tensor max(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
[[nodiscard]] Tensor min(const Tensor& x, const Axes& axes = {}, bool keepdims = false);

// ---- along one axis (ops/cumsum.cpp, ops/order.cpp)

[[nodiscard]] Tensor cumsum(const Tensor& x, int axis);  // y[j] = x[0] + ... + x[j] along the axis

// Where the largest (smallest) number along an axis stands: of equal ones the first, and the first
// NaN where there is one, as in NumPy. The axis disappears unless kept. Throws Error for an axis of
// size 0.
[[nodiscard]] Indices argmax(const Tensor& x, int axis = -1, bool keepdims = false);
[[nodiscard]] Indices argmin(const Tensor& x, int axis = -1, bool keepdims = false);

// The k largest (or smallest) numbers along an axis, best first, and where they stand: of equal
// ones the first comes first, and a NaN is larger than every number, as in PyTorch. The gradient
// goes to those that were chosen. Throws Error for a k below 0 or above the axis' size.
struct TopK {
  Tensor values;    // x's shape with k along the axis
  Indices indices;  // the same
};
[[nodiscard]] TopK topk(const Tensor& x, Index k, int axis = -1, bool largest = true);

// 1 where argmax stands, 0 elsewhere: softmax without its softness. Its gradient is 0.
[[nodiscard]] Tensor hardmax(const Tensor& x, int axis = -1);

// ---- form (ops/form.cpp): views that copy nothing, except concat, stack and some reshapes

// The same elements, in row-major order, with other sizes; one size may be -1 and is inferred. A
// view where strides allow, else a copy.
[[nodiscard]] Tensor reshape(const Tensor& x, std::initializer_list<Index> sizes);
[[nodiscard]] Tensor reshape(const Tensor& x, const Shape& shape);

[[nodiscard]] Tensor transpose(const Tensor& x);  // the last two axes; (..., m, n) -> (..., n, m)
[[nodiscard]] Tensor transpose(const Tensor& x, int one, int other);

// Axis i of y is order[i] of x. The order may be written out, or be known only when the program
// runs (a std::vector).
[[nodiscard]] Tensor permute(const Tensor& x, std::span<const int> order);
[[nodiscard]] inline Tensor permute(const Tensor& x, std::initializer_list<int> order) {
  return permute(x, std::span(order.begin(), order.size()));
}

// Positions begin, begin + step, ... before end along one axis. Negative positions count from the
// back. A step below 0 goes backwards, down to the position after end: slice(x, 0, -1, -n - 1, -1)
// turns an axis of size n around. Throws Error for a step of 0 or positions outside.
[[nodiscard]] Tensor slice(const Tensor& x, int axis, Index begin, Index end, Index step = 1);

// sizes equal except along axis
[[nodiscard]] Tensor concat(const std::vector<Tensor>& parts, int axis);
[[nodiscard]] Tensor stack(const std::vector<Tensor>& parts, int axis);  // equal shapes; a new axis
// equal parts, up to 2^20
[[nodiscard]] std::vector<Tensor> split(const Tensor& x, Index parts, int axis);
// repeats axes of size 1, and adds leading ones
[[nodiscard]] Tensor expand(const Tensor& x, const Shape& shape);
[[nodiscard]] Tensor squeeze(const Tensor& x, int axis);    // drops an axis of size 1
[[nodiscard]] Tensor unsqueeze(const Tensor& x, int axis);  // adds an axis of size 1

// ---- softmax (ops/softmax.cpp): along one axis, which keeps its size

// exp(x_i - max) / sum_j exp(x_j - max): never overflows. A row of -inf only, fully masked, becomes
// zeros with zero gradient.
[[nodiscard]] Tensor softmax(const Tensor& x, int axis = -1);
// its logarithm, without underflow
[[nodiscard]] Tensor log_softmax(const Tensor& x, int axis = -1);

// log sum exp(x) over one axis, which disappears unless kept.
[[nodiscard]] Tensor logsumexp(const Tensor& x, int axis = -1, bool keepdims = false);

// ---- layer normalisation (ops/layer_norm.cpp)

// Over the last axis, n: x (..., n), weight (n), bias (n) -> (..., n). (x - mean) / sqrt(variance +
// eps) * weight + bias, the variance dividing by n (Ba, Kiros, Hinton 2016). Throws Error for an
// eps below 0. With 0 a row of equal numbers is 0 / 0, NaN; so layers require more.
[[nodiscard]] Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                double eps = 1e-5);

// ---- root mean square normalisation (ops/rms_norm.cpp)

// Over the last axis, n: x (..., n), weight (n) -> (..., n). x / sqrt(mean of x^2 + eps) * weight
// (Zhang & Sennrich 2019). Throws Error for an eps below 0. With 0 a row of zeros is NaN.
[[nodiscard]] Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps = 1e-5);

// ---- looking up (ops/lookup.cpp)

// Rows of table (words, width) by ids (...) -> (..., width). Throws Error for an id that is not a
// row, naming the id and its place.
[[nodiscard]] Tensor embedding(const Tensor& table, const Indices& ids);

// y[o, p, i] = x[o, index[o, p, i], i] along one axis; index has x's rank, and x's sizes except
// along that axis. Throws Error for an index outside.
[[nodiscard]] Tensor gather(const Tensor& x, int axis, const Indices& index);

// ---- dropout (ops/dropout.cpp)

// Each element becomes 0 with probability p, else x / (1 - p), so that the mean stays
// (Srivastava et al. 2014). Training only: leave it out at inference. p in [0, 1); it counts in
// steps of 2^-16, up to 1 - 2^-16. Moves the generator on to a multiple of 32 words, then by 32
// words for each 64 elements, or part of them.
[[nodiscard]] Tensor dropout(const Tensor& x, double p, Random& random);

// The form that layers use: without a generator, at inference, x itself.
[[nodiscard]] inline Tensor dropout(const Tensor& x, double p, Random* random) {
  return random == nullptr ? x : dropout(x, p, *random);
}

// ---- losses (ops/loss.cpp): a single number, shape ()

// Mean over positions of -log softmax(logits)[target]; logits (..., classes), targets (...).
// Positions with a negative target are ignored; if all are, the loss is 0. Throws Error for a
// target that is not a class.
[[nodiscard]] Tensor cross_entropy(const Tensor& logits, const Indices& targets);

// Mean of -(t log p + (1 - t) log(1 - p)), p = sigmoid(logits), without overflow for any logit;
// logits and targets t of one shape. Throws Error for a target outside [0, 1]. No logits: 0.
[[nodiscard]] Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& targets);

// mean squared difference, one shape
[[nodiscard]] Tensor mse(const Tensor& prediction, const Tensor& target);

// ---- numbers are not tensors here: max(2, 3) is std::max or does not compile, though 2 would
// become a tensor and 3 an axis

template <class Number>
concept IsNumber = std::integral<Number> || std::floating_point<Number>;

void sum(IsNumber auto, auto...) = delete;
void mean(IsNumber auto, auto...) = delete;
void var(IsNumber auto, auto...) = delete;
void max(IsNumber auto, auto...) = delete;
void min(IsNumber auto, auto...) = delete;
void clamp(IsNumber auto, auto...) = delete;
void prod(IsNumber auto, auto...) = delete;

}  // namespace tapestry
