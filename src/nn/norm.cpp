#include "tapestry/nn/norm.hpp"

namespace tapestry {
namespace {

std::variant<LayerNorm, RmsNorm> made(NormKind kind, Index width, double eps) {
  if (kind == NormKind::rms) return RmsNorm(width, eps);
  return LayerNorm(width, eps);
}

}  // namespace

NormLayer::NormLayer(NormKind kind, Index width, double eps) : layer(made(kind, width, eps)) {}

Tensor NormLayer::operator()(const Tensor& x) const {
  return std::visit([&](const auto& one) { return one(x); }, layer);
}

Members NormLayer::members() const {
  return std::visit([](const auto& one) { return one.members(); }, layer);
}

}  // namespace tapestry
