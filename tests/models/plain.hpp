// For tests of architectures: tiny folders of random weights, and forward passes written out from
// operations, which read the same config.json and the same names.
#pragma once

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "nn/layers.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/ops.hpp"
#include "temporary_folder.hpp"

namespace plain {

using namespace tapestry;
using Json = nlohmann::json;
using Weights = std::map<std::string, Tensor>;
using Shapes = std::vector<std::pair<std::string, Shape>>;

inline const Indices ids({9}, {3, 1, 4, 1, 5, 9, 2, 6, 5});  // of 11 words

inline Weights random_weights(const Shapes& shapes) {
  Random random(17);
  Weights weights;
  for (const auto& [name, shape] : shapes) weights[name] = random.normal(shape, 0, 0.4);
  return weights;
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline void write_folder(const TemporaryFolder& folder, const Json& config,
                         const Weights& weights) {
  Parameters list;
  for (const auto& [name, tensor] : weights) list.push_back({name, tensor});
  write_safetensors(folder / "model.safetensors", list, {{"format", "pt"}});
  write_text(folder / "config.json", config.dump());
}

inline bool has(const Weights& w, const std::string& name) { return w.contains(name); }

// y = x W^T + b of a map whose weight is stored (out, in).
inline Tensor map(const Weights& w, const std::string& name, const Tensor& x) {
  const Tensor y = matmul(x, transpose(w.at(name + ".weight")));
  return has(w, name + ".bias") ? y + w.at(name + ".bias") : y;
}

inline Tensor layer_norm(const Weights& w, const std::string& name, const Tensor& x, double eps) {
  const Tensor centred = x - mean(x, -1, true);
  const Tensor y = centred / sqrt(mean(centred * centred, -1, true) + eps);
  return y * w.at(name + ".weight") + w.at(name + ".bias");
}

inline Tensor rms_norm(const Weights& w, const std::string& name, const Tensor& x, double eps) {
  return x / sqrt(mean(x * x, -1, true) + eps) * w.at(name + ".weight");
}

inline Tensor activated(const std::string& name, const Tensor& x) {
  if (name == "relu") return (x + abs(x)) / 2;
  if (name == "silu" || name == "swish") return x / (exp(-x) + 1);
  if (name == "gelu") return x * (erf(x / std::sqrt(2.0)) + 1) / 2;
  const Tensor inner = (x + x * x * x * 0.044715) * std::sqrt(2 / M_PI);
  return x * (tanh(inner) + 1) / 2;  // gelu_new
}

// (length, heads d) -> (heads, length, d)
inline Tensor heads_of(const Tensor& x, Index heads) {
  return transpose(reshape(x, {x.size(0), heads, x.size(1) / heads}), 0, 1);
}

// Each head so many times: head i of the result is head i / times.
inline Tensor repeated(const Tensor& x, Index times) {
  std::vector<Tensor> heads;
  for (Index h = 0; h < x.size(0) * times; ++h) {
    heads.push_back(slice(x, 0, h / times, h / times + 1));
  }
  return concat(heads, 0);
}

// x (heads, length, d): number i of the first `width` turns with number i + width / 2.
inline Tensor turned(const Tensor& x, Index width, double base) {
  const Index length = x.size(1), half = width / 2;
  const Tensor angles = Tensor::empty({length, half});
  for (Index p = 0; p < length; ++p) {
    for (Index i = 0; i < half; ++i) {
      angles.data()[p * half + i] =
          static_cast<real>(double(p) / std::pow(base, 2.0 * double(i) / double(width)));
    }
  }
  const Tensor a = slice(x, -1, 0, half), b = slice(x, -1, half, width);
  return concat({a * cos(angles) - b * sin(angles), b * cos(angles) + a * sin(angles),
                 slice(x, -1, width, x.size(-1))},
                -1);
}

struct Attending {
  double scale;
  bool causal = true;
  Index window = 0;  // 0: all
};

// q, k, v (heads, length, d) -> (length, heads d)
inline Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const Attending& how) {
  const Index length = q.size(1);
  const Tensor seen = Tensor::zeros({length, length});
  for (Index i = 0; i < length; ++i) {
    for (Index j = 0; j < length; ++j) {
      const bool visible =
          (!how.causal || j <= i) && (how.window == 0 || std::abs(i - j) < how.window);
      seen.data()[i * length + j] = visible ? real(1) : real(0);
    }
  }
  const Tensor scores = where(seen, matmul(q, transpose(k)) * how.scale, -infinity);
  const Tensor y = transpose(matmul(softmax(scores), v), 0, 1);  // (length, heads, d)
  return reshape(y, {length, y.size(1) * y.size(2)});
}

inline Tensor rows_of(const Weights& w, const std::string& name) {
  return embedding(w.at(name), ids);
}

inline Tensor first_rows(const Weights& w, const std::string& name) {
  return slice(w.at(name), 0, 0, 9);
}

}  // namespace plain
