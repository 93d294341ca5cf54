// The reference set: fills every entry of the table with a plain loop of reference.hpp.
#include "kernels/reference.hpp"

#include "kernels/reference_attention.hpp"
#include "kernels/sets.hpp"

namespace tapestry::kernels {
namespace {

// The entries of every function in the lists: the loop over arrays around its plain form.
void fill_elementwise(Table& t) {
  UnaryFunctions::each([&](auto f) {
    using F = decltype(f);
    t.unary[UnaryFunctions::place<F>()] = [](const real* x, real* y, Index n) {
      reference::map(x, y, n, [](double number) { return F::plain(number); });
    };
    if constexpr (has_backward<F>) {
      t.unary_backward[UnaryFunctions::place<F>()] = [](const real* dy, const real* saved, real* dx,
                                                        Index n) {
        const auto backward = [](double up, double kept) { return F::plain_backward(up, kept); };
        reference::map2(dy, 1, saved, 1, dx, n, backward);
      };
    }
  });
  BinaryFunctions::each([&](auto f) {
    using F = decltype(f);
    t.binary[BinaryFunctions::place<F>()] = [](const real* a, Index a_step, const real* b,
                                               Index b_step, real* y, Index n) {
      const auto plain = [](double left, double right) { return F::plain(left, right); };
      reference::map2(a, a_step, b, b_step, y, n, plain);
    };
  });
  t.select = reference::select;
}

}  // namespace

void fill_reference(Table& t) {
  t.name = "reference";
  fill_elementwise(t);
  t.sum = reference::sum;
  t.max = reference::max;
  t.min = reference::min;
  t.prod = reference::prod;
  t.softmax = reference::softmax;
  t.log_softmax = reference::log_softmax;
  t.softmax_backward = reference::softmax_backward;
  t.log_softmax_backward = reference::log_softmax_backward;
  t.logsumexp = reference::logsumexp;
  t.layer_norm = reference::layer_norm;
  t.layer_norm_backward = reference::layer_norm_backward;
  t.rms_norm = reference::rms_norm;
  t.rms_norm_backward = reference::rms_norm_backward;
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
