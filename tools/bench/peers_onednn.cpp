#include <unordered_map>
#include <utility>

#include "describe.hpp"
#include "peers.hpp"

namespace tapestry::bench {
namespace {

using dnnl::memory;

memory::dims dims_of(const Tensor& x) {
  memory::dims dims;
  for (int axis = 0; axis < x.ndim(); ++axis) dims.push_back(x.size(axis));
  return dims;
}

Desc desc_of(const Tensor& x) {
  memory::dims strides;
  for (int axis = 0; axis < x.ndim(); ++axis) strides.push_back(x.strides()[axis]);
  return Desc(dims_of(x), memory::data_type::f32, strides);
}

Tensor like(const Tensor& x) { return Tensor::empty(x.shape()); }

// A primitive with all that it reads and writes. The tensors own the numbers: copies, for a tape
// watches numbers whose address was given away.
struct Call {
  dnnl::primitive primitive;
  std::vector<std::pair<int, Tensor>> tensors;
  std::unordered_map<int, memory> arguments = {};
  dnnl::stream stream{engine()};

  Call& bind() {
    for (auto& [name, tensor] : tensors) {
      if (tensor.is_contiguous()) tensor = tensor.clone();
      arguments.emplace(name, memory(desc_of(tensor), engine(), tensor.data()));
    }
    return *this;
  }
  void run() {
    primitive.execute(stream, arguments);
    stream.wait();
  }
};

std::shared_ptr<Call> bound(dnnl::primitive primitive,
                            std::vector<std::pair<int, Tensor>> tensors) {
  auto call = std::make_shared<Call>(Call{std::move(primitive), std::move(tensors)});
  call->bind();
  return call;
}

Contestant contestant(dnnl::primitive primitive, std::vector<std::pair<int, Tensor>> tensors) {
  return {"oneDNN", [call = bound(std::move(primitive), std::move(tensors))] { call->run(); }};
}

// `shared`: arguments that backward takes over from forward, which runs before it, not timed.
Contestant after(const std::shared_ptr<Call>& forward, const std::shared_ptr<Call>& backward,
                 std::initializer_list<int> shared) {
  for (const int name : shared) backward->arguments[name] = forward->arguments.at(name);
  return {"oneDNN", [backward] { backward->run(); }, [forward] { forward->run(); }};
}

}  // namespace

Contestant onednn_batched(const Tensor& a, const Tensor& b) {
  const Tensor c = Tensor::empty({a.size(0), a.size(1), b.size(2)});
  return contestant(dnnl::matmul(describe_matmul(desc_of(a), desc_of(b), desc_of(c))),
                    {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
}

Contestant onednn_softmax(const Tensor& x) {
  return contestant(SoftmaxForward(describe_softmax(desc_of(x))),
                    {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, like(x)}});
}

Contestant onednn_softmax_backward(const Tensor& x, const Tensor& dy) {
  return after(bound(SoftmaxForward(describe_softmax(desc_of(x))),
                     {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, like(x)}}),
               bound(SoftmaxBackward(describe_softmax_backward(desc_of(x))),
                     {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, like(x)}}),
               {DNNL_ARG_DST});
}

Contestant onednn_gelu(const Tensor& x) {
  return contestant(EltwiseForward(describe_gelu(desc_of(x))),
                    {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, like(x)}});
}

Contestant onednn_gelu_backward(const Tensor& x, const Tensor& dy) {
  return after(bound(EltwiseForward(describe_gelu(desc_of(x))),
                     {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, like(x)}}),
               bound(EltwiseBackward(describe_gelu_backward(desc_of(x))),
                     {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, like(x)}}),
               {DNNL_ARG_SRC});
}

Contestant onednn_layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias) {
  return contestant(
      NormForward(describe_norm(desc_of(x), inference)),
      {{DNNL_ARG_SRC, x}, {DNNL_ARG_SCALE, gain}, {DNNL_ARG_SHIFT, bias}, {DNNL_ARG_DST, like(x)}});
}

Contestant onednn_layer_norm_backward(const Tensor& x, const Tensor& gain, const Tensor& bias,
                                      const Tensor& dy) {
  const Tensor mean = Tensor::empty({x.size(0)});  // (rows)
  return after(
      bound(NormForward(describe_norm(desc_of(x), training)), {{DNNL_ARG_SRC, x},
                                                               {DNNL_ARG_SCALE, gain},
                                                               {DNNL_ARG_SHIFT, bias},
                                                               {DNNL_ARG_DST, like(x)},
                                                               {DNNL_ARG_MEAN, mean},
                                                               {DNNL_ARG_VARIANCE, like(mean)}}),
      bound(NormBackward(describe_norm_backward(desc_of(x))), {{DNNL_ARG_DIFF_DST, dy},
                                                               {DNNL_ARG_DIFF_SRC, like(x)},
                                                               {DNNL_ARG_DIFF_SCALE, like(gain)},
                                                               {DNNL_ARG_DIFF_SHIFT, like(bias)}}),
      {DNNL_ARG_SRC, DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE});
}

}  // namespace tapestry::bench
