// Layers one behind the other.
//
//   const Sequential net(Linear(2, 8, random), gelu, Linear(8, 1, random));
//   const Tensor y = net(x);
//   net.parameters();  // 0.weight, 0.bias, 2.weight, 2.bias
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tapestry/mask.hpp"
#include "tapestry/nn/forward_context.hpp"
#include "tapestry/nn/module.hpp"

namespace tapestry {

// Each layer is something that makes a Tensor from a Tensor: a module, a function. Those that take
// a mask and a ForwardContext get them. To copy a Sequential is to share its layers.
class Sequential : public Module {
 public:
  template <class... Layers>
    requires(sizeof...(Layers) != 1 || (... && !std::is_same_v<Layers, Sequential>))
  explicit Sequential(Layers... layers) {
    (add(std::move(layers)), ...);
  }

  // One more, behind the others.
  template <class Layer>
  void add(Layer layer) {
    const auto shared = std::make_shared<const Layer>(std::move(layer));
    std::shared_ptr<const Module> module;  // null for a function
    if constexpr (std::is_base_of_v<Module, Layer>) module = shared;
    layers_.push_back({module, [shared](const Tensor& x, [[maybe_unused]] const Mask& mask,
                                        [[maybe_unused]] const ForwardContext& pass) {
                         if constexpr (requires { (*shared)(x, mask, pass); }) {
                           return (*shared)(x, mask, pass);
                         } else {
                           return (*shared)(x);
                         }
                       }});
  }

  // Throws Error for a cache, which is of one layer, and as the layers do.
  Tensor operator()(const Tensor& x, const Mask& mask = {}, const ForwardContext& pass = {}) const;

  // Under their numbers, from 0; functions count.
  Members members() const override;

 private:
  struct Step {
    std::shared_ptr<const Module> module;
    std::function<Tensor(const Tensor&, const Mask&, const ForwardContext&)> call;
  };

  std::vector<Step> layers_;
};

}  // namespace tapestry
