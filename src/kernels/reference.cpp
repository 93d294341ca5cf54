// The reference set: fills every entry of the table with a plain loop of reference.hpp.
#include "kernels/reference.hpp"

#include "kernels/reference_attention.hpp"
#include "kernels/sets.hpp"

namespace tapestry::kernels {
namespace {

// Each turns a function of one or two numbers into an entry of the table: the loop over arrays.
template <class F>
Binary binary(F) {
  return [](const real* a, Index a_step, const real* b, Index b_step, real* y, Index n) {
    reference::map2(a, a_step, b, b_step, y, n, F{});
  };
}

template <class F>
Unary unary(F) {
  return [](const real* x, real* y, Index n) { reference::map(x, y, n, F{}); };
}

template <class F>
UnaryBackward backward(F) {
  return [](const real* dy, const real* saved, real* dx, Index n) {
    reference::map2(dy, 1, saved, 1, dx, n, F{});
  };
}

void fill_two_operands(Table& t) {
  t.add = binary([](double a, double b) { return a + b; });
  t.subtract = binary([](double a, double b) { return a - b; });
  t.multiply = binary([](double a, double b) { return a * b; });
  t.divide = binary([](double a, double b) { return a / b; });
  t.power = binary([](double a, double b) { return std::pow(a, b); });
  t.maximum = binary([](double a, double b) { return reference::maximum(a, b); });
  t.minimum = binary([](double a, double b) { return reference::minimum(a, b); });
  t.equal = binary([](double a, double b) { return a == b ? 1.0 : 0.0; });
  t.less = binary([](double a, double b) { return a < b ? 1.0 : 0.0; });
  t.select = reference::select;
}

void fill_one_operand(Table& t) {
  t.negate = unary([](double x) { return -x; });
  t.sqrt = unary([](double x) { return std::sqrt(x); });
  t.exp = unary([](double x) { return std::exp(x); });
  t.log = unary([](double x) { return std::log(x); });
  t.sin = unary([](double x) { return std::sin(x); });
  t.cos = unary([](double x) { return std::cos(x); });
  t.tanh = unary([](double x) { return std::tanh(x); });
  t.erf = unary([](double x) { return std::erf(x); });
  t.sigmoid = unary([](double x) { return reference::sigmoid(x); });
  t.relu = unary([](double x) { return reference::relu(x); });
  t.elu = unary([](double x) { return reference::elu(x); });
  t.gelu = unary([](double x) { return reference::gelu(x); });
  t.gelu_tanh = unary([](double x) { return reference::gelu_tanh(x); });
  t.softplus = unary([](double x) { return reference::softplus(x); });
}

void fill_backward(Table& t) {
  t.tanh_backward = backward([](double dy, double y) { return dy * (1 - y * y); });
  t.sigmoid_backward = backward([](double dy, double y) { return dy * y * (1 - y); });
  t.relu_backward = backward([](double dy, double y) { return y <= 0 ? 0 : dy; });
  t.elu_backward = backward([](double dy, double y) { return y > 0 ? dy : dy * (y + 1); });
  t.gelu_backward = backward([](double dy, double x) { return dy * reference::gelu_slope(x); });
  t.gelu_tanh_backward =
      backward([](double dy, double x) { return dy * reference::gelu_tanh_slope(x); });
  t.softplus_backward = backward([](double dy, double x) { return dy * reference::sigmoid(x); });
}

}  // namespace

void fill_reference(Table& t) {
  t.name = "reference";
  fill_two_operands(t);
  fill_one_operand(t);
  fill_backward(t);
  t.sum = reference::sum;
  t.max = reference::max;
  t.min = reference::min;
  t.softmax = reference::softmax;
  t.log_softmax = reference::log_softmax;
  t.softmax_backward = reference::softmax_backward;
  t.log_softmax_backward = reference::log_softmax_backward;
  t.logsumexp = reference::logsumexp;
  t.layer_norm = reference::layer_norm;
  t.layer_norm_backward = reference::layer_norm_backward;
  t.cross_entropy_backward = reference::cross_entropy_backward;
  t.dropout = reference::dropout;
  t.sum_squares = reference::sum_squares;
  t.sgd = reference::sgd;
  t.adam = reference::adam;
  t.matmul = reference::matmul;
  t.linear = reference::linear;
  t.attention = reference::attention;
  t.attention_backward = reference::attention_backward;
  t.fma_burst = reference::fma_burst;
}

}  // namespace tapestry::kernels
