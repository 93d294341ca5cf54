// Descriptions of the same primitives for oneDNN 2 and 3. Results are shaped like their operands.
#pragma once

#include <dnnl.hpp>

namespace tapestry::bench {

using Desc = dnnl::memory::desc;
using SoftmaxForward = dnnl::softmax_forward;
using SoftmaxBackward = dnnl::softmax_backward;
using EltwiseForward = dnnl::eltwise_forward;
using EltwiseBackward = dnnl::eltwise_backward;
using NormForward = dnnl::layer_normalization_forward;
using NormBackward = dnnl::layer_normalization_backward;

inline const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

inline constexpr auto inference = dnnl::prop_kind::forward_inference;
inline constexpr auto training = dnnl::prop_kind::forward_training;
inline constexpr auto gelu_erf = dnnl::algorithm::eltwise_gelu_erf;
inline const auto gain_and_bias =
    dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
inline constexpr float norm_epsilon = 1e-5f;

#if DNNL_VERSION_MAJOR >= 3

inline dnnl::matmul::primitive_desc describe_matmul(const Desc& a, const Desc& b, const Desc& c) {
  return {engine(), a, b, c};
}
inline SoftmaxForward::primitive_desc describe_softmax(const Desc& x) {
  return {engine(), training, dnnl::algorithm::softmax_accurate, x, x, 1};
}
inline SoftmaxBackward::primitive_desc describe_softmax_backward(const Desc& x) {
  return {engine(), dnnl::algorithm::softmax_accurate, x, x, x, 1, describe_softmax(x)};
}
inline EltwiseForward::primitive_desc describe_gelu(const Desc& x) {
  return {engine(), training, gelu_erf, x, x};
}
inline EltwiseBackward::primitive_desc describe_gelu_backward(const Desc& x) {
  return {engine(), gelu_erf, x, x, x, describe_gelu(x)};
}
inline NormForward::primitive_desc describe_norm(const Desc& x, dnnl::prop_kind kind) {
  return {engine(), kind, x, x, norm_epsilon, gain_and_bias};
}
inline NormBackward::primitive_desc describe_norm_backward(const Desc& x) {
  return {engine(),      dnnl::prop_kind::backward, x, x, x, norm_epsilon,
          gain_and_bias, describe_norm(x, training)};
}

#else

inline dnnl::matmul::primitive_desc describe_matmul(const Desc& a, const Desc& b, const Desc& c) {
  return {dnnl::matmul::desc(a, b, c), engine()};
}
inline SoftmaxForward::primitive_desc describe_softmax(const Desc& x) {
  return {SoftmaxForward::desc(training, x, 1), engine()};
}
inline SoftmaxBackward::primitive_desc describe_softmax_backward(const Desc& x) {
  return {SoftmaxBackward::desc(x, x, 1), engine(), describe_softmax(x)};
}
inline EltwiseForward::primitive_desc describe_gelu(const Desc& x) {
  return {EltwiseForward::desc(training, gelu_erf, x, 0, 0), engine()};
}
inline EltwiseBackward::primitive_desc describe_gelu_backward(const Desc& x) {
  return {EltwiseBackward::desc(gelu_erf, x, x), engine(), describe_gelu(x)};
}
inline NormForward::primitive_desc describe_norm(const Desc& x, dnnl::prop_kind kind) {
  return {NormForward::desc(kind, x, norm_epsilon, gain_and_bias), engine()};
}
inline NormBackward::primitive_desc describe_norm_backward(const Desc& x) {
  return {NormBackward::desc(dnnl::prop_kind::backward, x, x, norm_epsilon, gain_and_bias),
          engine(), describe_norm(x, training)};
}

#endif

}  // namespace tapestry::bench
