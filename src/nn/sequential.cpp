#include "tapestry/nn/sequential.hpp"

namespace tapestry {

Tensor Sequential::operator()(const Tensor& x) const {
  Tensor y = x;
  for (const Step& layer : layers_) y = layer.call(y);
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
