// Softmax, normalisation and GELU. Arithmetic is counted roughly; memory decides most.
#include "ours.hpp"
#include "peers.hpp"
#include "tapestry/ops.hpp"

namespace tapestry::bench {
namespace {

std::string shape_text(const Shape& shape) {
  std::string text;
  for (int axis = 0; axis < shape.ndim(); ++axis) {
    text += (axis == 0 ? "" : " x ") + std::to_string(shape[axis]);
  }
  return text;
}

Row softmax_row(const Shape& shape) {
  const auto count = double(shape.numel());
  Row row{
      "softmax", "forward " + shape_text(shape), (exp_flops + 4) * count, bytes_of(2 * count), {}};
  row.curve = shape[0] == 32768;
  row.prepare = [shape] {
    const Tensor x = numbers(shape);
    return std::vector<Contestant>{ours([x] { return softmax(x); }), onednn_softmax(x)};
  };
  return row;
}

Row softmax_backward_row(const Shape& shape) {
  const auto count = double(shape.numel());
  Row row{"softmax", "backward " + shape_text(shape), 4 * count, bytes_of(3 * count), {}};
  row.prepare = [shape] {
    const Tensor x = numbers(shape), dy = numbers(shape);
    return std::vector<Contestant>{
        ours_backward({x}, [x] { return softmax(x); }, dy), onednn_softmax_backward(x, dy)};
  };
  return row;
}

Row layer_norm_row(const Shape& shape, bool backward) {
  const auto count = double(shape.numel());
  Row row{"layer norm",
          (backward ? "backward " : "forward ") + shape_text(shape),
          (backward ? 13 : 8) * count,
          bytes_of((backward ? 3 : 2) * count),
          {}};
  row.prepare = [shape, backward] {
    const Tensor x = numbers(shape), dy = numbers(shape);
    const Tensor gain = numbers({shape[1]}), bias = numbers({shape[1]});
    const auto normalise = [=] { return layer_norm(x, gain, bias); };
    if (!backward) {
      return std::vector<Contestant>{ours(normalise), onednn_layer_norm(x, gain, bias)};
    }
    return std::vector<Contestant>{ours_backward({x, gain, bias}, normalise, dy),
                                   onednn_layer_norm_backward(x, gain, bias, dy)};
  };
  return row;
}

Row rms_norm_row(const Shape& shape, bool backward) {
  const auto count = double(shape.numel());
  Row row{"rms norm",
          (backward ? "backward " : "forward ") + shape_text(shape),
          (backward ? 10 : 4) * count,
          bytes_of((backward ? 3 : 2) * count),
          {}};
  row.prepare = [shape, backward] {
    const Tensor x = numbers(shape), dy = numbers(shape), weight = numbers({shape[1]});
    const auto normalise = [=] { return rms_norm(x, weight); };
    if (!backward) return std::vector<Contestant>{ours(normalise)};
    return std::vector<Contestant>{ours_backward({x, weight}, normalise, dy)};
  };
  return row;
}

Row gelu_row(const Shape& shape, bool backward) {
  const auto count = double(shape.numel());
  Row row{"gelu",
          (backward ? "backward " : "forward ") + shape_text(shape),
          (backward ? gelu_backward_flops : gelu_flops) * count,
          bytes_of((backward ? 3 : 2) * count),
          {}};
  row.prepare = [shape, backward] {
    const Tensor x = numbers(shape), dy = numbers(shape);
    if (!backward) return std::vector<Contestant>{ours([x] { return gelu(x); }), onednn_gelu(x)};
    return std::vector<Contestant>{
        ours_backward({x}, [x] { return gelu(x); }, dy), onednn_gelu_backward(x, dy)};
  };
  return row;
}

}  // namespace

void add_softmax_rows(std::vector<Row>& rows) {
  for (const Shape& shape : {Shape{32768, 128}, Shape{1024, 1024}, Shape{64, 50257}}) {
    rows.push_back(softmax_row(shape));
    rows.push_back(softmax_backward_row(shape));
  }
  for (const bool backward : {false, true}) rows.push_back(layer_norm_row({4096, 512}, backward));
  for (const bool backward : {false, true}) rows.push_back(rms_norm_row({4096, 512}, backward));
  for (const bool backward : {false, true}) rows.push_back(gelu_row({4096, 512}, backward));
}

}  // namespace tapestry::bench
