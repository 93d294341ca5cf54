#include "tapestry/analysis/lens.hpp"

#include <cmath>

#include "analysis/linear_algebra.hpp"
#include "analysis/one_text.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

Tensor layer(const Tensor& streams, Index number) {
  return squeeze(slice(streams, 0, number, number + 1), 0);  // (length, d_model)
}

bool is_held_out(std::size_t text, std::size_t texts) { return text % 5 == 4 || text + 1 == texts; }

void check_texts(std::span<const Indices> texts, double ridge) {
  if (texts.size() < 2) {
    throw Error("lens: there are " + std::to_string(texts.size()) +
                " texts, but it takes at least 2: one to fit on and one to measure.");
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].shape.numel() > 0) continue;
    throw Error("lens: text " + std::to_string(i) + ", counted from 0, is empty.");
  }
  if (ridge > 0 && std::isfinite(ridge)) return;
  throw Error("lens: the ridge is " + exact_text(ridge) + ", but must be a number above 0.");
}

// Squares that predictions miss, and those around the mean, of rows that come in parts.
struct Missed {
  std::vector<double> by_map, unchanged;  // of each layer
  std::vector<double> sum, squares;       // of each column, after the last block
  Index rows = 0;

  Missed(std::size_t layers, Index width)
      : by_map(layers),
        unchanged(layers),
        sum(static_cast<std::size_t>(width)),
        squares(static_cast<std::size_t>(width)) {}

  double around_mean() const {
    double total = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      total += squares[i] - sum[i] * sum[i] / static_cast<double>(rows);
    }
    return total;
  }
};

double distance(const Tensor& a, const Tensor& b) {
  double total = 0;
  for (const real value : (a - b).values()) total += double{value} * double{value};
  return total;
}

void measure(const AffineLens& lens, const Tensor& streams, Missed& missed) {
  const Index layers = static_cast<Index>(lens.maps.size());
  const Tensor last = layer(streams, layers);  // (length, d_model)
  for (std::size_t i = 0; i < lens.maps.size(); ++i) {
    const Tensor x = layer(streams, static_cast<Index>(i));  // (length, d_model)
    missed.by_map[i] += distance(linear(x, lens.maps[i], lens.biases[i]), last);
    missed.unchanged[i] += distance(x, last);
  }
  const std::vector<real> values = last.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t column = i % missed.sum.size();
    missed.sum[column] += double{values[i]};
    missed.squares[column] += double{values[i]} * double{values[i]};
  }
  missed.rows += last.size(0);
}

// Maps and biases alone.
AffineLens fitted(const Transformer& model, std::span<const Indices> texts, double ridge) {
  const Index layers = model.options.num_layers, width = model.options.d_model;
  std::vector<LeastSquares> sums(static_cast<std::size_t>(layers), LeastSquares(width, width));
  AffineLens lens;
  for (std::size_t text = 0; text < texts.size(); ++text) {
    if (is_held_out(text, texts.size())) continue;
    const Tensor streams = residual_streams(model, texts[text]);  // (layers + 1, length, d_model)
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const Tensor x = layer(streams, static_cast<Index>(i));  // (length, d_model)
      sums[i].add(x, layer(streams, layers) - x);              // the ridge pulls to no change
    }
    lens.fitted += streams.size(1);
  }
  for (const LeastSquares& sum : sums) {
    const AffineMap change = sum.solve(ridge);
    lens.maps.push_back(change.weight + Tensor::eye(width));  // (d_model, d_model)
    lens.biases.push_back(change.bias);                       // (d_model)
  }
  return lens;
}

void check_fits(const Transformer& model, const AffineLens& lens) {
  const Index layers = static_cast<Index>(lens.maps.size()), width = model.options.d_model;
  bool fits = layers == model.options.num_layers && lens.biases.size() == lens.maps.size();
  for (const Tensor& map : lens.maps) fits = fits && map.shape() == Shape{width, width};
  if (fits) return;
  throw Error("lens: it was fitted to a model of " + std::to_string(layers) + " layers" +
              (layers > 0 ? " and width " + std::to_string(lens.maps[0].size(-1)) : "") +
              ", but this one has " + std::to_string(model.options.num_layers) + " and width " +
              std::to_string(width) + ": fit it anew.");
}

}  // namespace

Tensor residual_streams(const Transformer& model, const Indices& ids) {
  const Indices text = one_text("lens", model, ids);  // (1, length)
  const Capture seen;
  (void)model(text);
  std::vector<Tensor> layers = {seen["embedding"]};  // (1, length, d_model)
  for (Index i = 0; i < model.options.num_layers; ++i) {
    layers.push_back(seen["blocks." + std::to_string(i) + ".output"]);
  }
  return concat(layers, 0);  // (layers + 1, length, d_model)
}

Tensor logit_lens(const Transformer& model, const Indices& ids) {
  return model.read_out(residual_streams(model, ids));  // (layers + 1, length, vocab_size)
}

AffineLens fit_lens(const Transformer& model, std::span<const Indices> texts, double ridge) {
  check_texts(texts, ridge);
  AffineLens lens = fitted(model, texts, ridge);
  Missed missed(lens.maps.size(), model.options.d_model);
  for (std::size_t text = 0; text < texts.size(); ++text) {
    if (!is_held_out(text, texts.size())) continue;
    measure(lens, residual_streams(model, texts[text]), missed);
  }
  for (std::size_t i = 0; i < lens.maps.size(); ++i) {
    lens.explained.push_back(1 - missed.by_map[i] / missed.around_mean());
    lens.unchanged.push_back(1 - missed.unchanged[i] / missed.around_mean());
  }
  lens.held_out = missed.rows;
  return lens;
}

Tensor affine_lens(const Transformer& model, const AffineLens& lens, const Indices& ids) {
  check_fits(model, lens);
  const Tensor streams = residual_streams(model, ids);  // (layers + 1, length, d_model)
  std::vector<Tensor> mapped;
  for (std::size_t i = 0; i < lens.maps.size(); ++i) {
    mapped.push_back(linear(layer(streams, static_cast<Index>(i)), lens.maps[i], lens.biases[i]));
  }
  mapped.push_back(layer(streams, streams.size(0) - 1));  // (length, d_model)
  return model.read_out(stack(mapped, 0));                // (layers + 1, length, vocab_size)
}

}  // namespace tapestry
