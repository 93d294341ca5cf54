#include "tapestry/nn/sequential.hpp"

#include "tapestry/error.hpp"

namespace tapestry {

Tensor Sequential::operator()(const Tensor& x, const Mask& mask, const ForwardContext& pass) const {
  if (pass.cache != nullptr) throw Error("sequential: a cache is of one layer: call that layer.");
  Tensor y = x;
  for (const Step& layer : layers_) y = layer.call(y, mask, pass);
  return y;
}

Members Sequential::members() const {
  Members list;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    list.emplace_back(std::to_string(i), layers_[i].module.get());
  }
  return list;
}

}  // namespace tapestry
