#include "tapestry/analysis/faithfulness.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

std::string name_in(const std::string& layer, const char* what) {
  return layer.empty() ? what : layer + "." + what;
}

// The tensor recorded under that name when the target is computed.
Tensor recorded(const Target& target, const std::string& name) {
  const Capture seen;
  target();
  return seen[name];
}

// The target with f(tensor) in its place.
double target_with(const Target& target, const std::string& name, const Capture::Replacement& f) {
  Capture seen;
  seen.replace(name, f);
  return double{target().item()};
}

// Mean ranks of the values, from 0.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (auto begin = order.begin(); begin != order.end();) {
    const auto end = std::find_if(begin, order.end(),
                                  [&](std::size_t i) { return values[i] != values[*begin]; });
    const double rank =
        static_cast<double>((begin - order.begin()) + (end - order.begin()) - 1) / 2;
    for (; begin != end; ++begin) result[*begin] = rank;
  }
  return result;
}

bool has_nan(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double x) { return std::isnan(x); });
}

// Pearson's correlation; infinity if one of them is constant.
double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double middle = static_cast<double>(a.size() - 1) / 2;  // the mean of all ranks
  const auto product = [=](const std::vector<double>& x, const std::vector<double>& y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0, std::plus<>(),
                              [=](double p, double q) { return (p - middle) * (q - middle); });
  };
  const double ab = product(a, b), aa = product(a, a), bb = product(b, b);
  return aa == 0 || bb == 0 ? std::numeric_limits<double>::infinity() : ab / std::sqrt(aa * bb);
}

// Of one row; infinity for fewer than three visible keys, or where a map has equal values only.
double row_agreement(const real* a, const real* b, const real* visible, Index keys) {
  std::vector<double> of_a, of_b;
  for (Index j = 0; j < keys; ++j) {
    if (visible[j] == 0) continue;
    of_a.push_back(double{a[j]});
    of_b.push_back(double{b[j]});
  }
  if (has_nan(of_a) || has_nan(of_b)) return std::numeric_limits<double>::quiet_NaN();
  if (of_a.size() < 3) return std::numeric_limits<double>::infinity();
  return correlation(ranks(of_a), ranks(of_b));
}

}  // namespace

Tensor value_shares(const Tensor& weights, const Tensor& values, const Tensor& output_weight) {
  const bool fit = weights.ndim() >= 3 && values.ndim() == weights.ndim() &&
                   output_weight.ndim() == 2 && values.size(-3) == weights.size(-3) &&
                   values.size(-2) == weights.size(-1) &&
                   output_weight.size(0) == values.size(-3) * values.size(-1);
  if (!fit) {
    throw Error("value_shares: weights are " + to_string(weights.shape()) + ", values " +
                to_string(values.shape()) + ", output_weight " + to_string(output_weight.shape()) +
                ": they must be (..., heads, queries, keys), (..., heads, keys, d_v) and "
                "(heads d_v, d_model).");
  }
  // (heads, d_v, d_model)
  const Tensor by_head = reshape(output_weight, {values.size(-3), values.size(-1), -1});
  const Tensor given = matmul(values, by_head);                      // (..., heads, keys, d_model)
  const Tensor norms = unsqueeze(sqrt(sum(given * given, -1)), -2);  // (..., heads, 1, keys)
  const Tensor taken = weights * norms, total = sum(taken, -1, true);  // total (..., queries, 1)
  return taken / where(total, total, 1);  // (..., heads, queries, keys)
}

Tensor gradient_times_attention(const Target& target, const std::string& layer) {
  const std::string name = name_in(layer, "weights");
  const Tensor weights = recorded(target, name);        // (..., heads, queries, keys)
  const Tensor added = Tensor::zeros(weights.shape());  // as weights, with the same gradient
  Tape tape({added});
  Capture seen;
  seen.replace(name, [&](const Tensor& w) { return w + added; });
  const Tensor y = target();                 // ()
  return weights * tape.backward(y)[added];  // (..., heads, queries, keys)
}

Tensor link_ablation(const Target& target, const std::string& layer) {
  const std::string name = name_in(layer, "weights");
  const Tensor weights = recorded(target, name);  // (..., heads, queries, keys)
  const Index size = weights.size(-3) * weights.size(-2) * weights.size(-1);
  if (weights.numel() != size) {
    throw Error("link_ablation: '" + name + "' is " + to_string(weights.shape()) +
                ": one text at a time.");
  }
  const double whole = target_with(target, name, {});    // computed as below, bit for bit
  const Tensor result = Tensor::zeros(weights.shape());  // (..., heads, queries, keys)
  const std::vector<real> numbers = weights.values();
  for (Index i = 0; i < weights.numel(); ++i) {
    if (numbers[static_cast<std::size_t>(i)] == 0) continue;
    const double without = target_with(target, name, [&](const Tensor& w) {
      const Tensor cut = w.clone();  // (..., heads, queries, keys)
      raw(cut)[i] = 0;
      return cut;
    });
    raw(result)[i] = static_cast<real>(whole - without);
  }
  return result;
}

Tensor head_ablation(const Target& target, const std::string& layer) {
  const std::string name = name_in(layer, "heads");
  const Index heads = recorded(target, name).size(-3);
  const double whole = target_with(target, name, {});  // computed as below, bit for bit
  const Tensor result = Tensor::empty({heads});        // (heads)
  for (Index head = 0; head < heads; ++head) {
    const double without = target_with(target, name, [&](const Tensor& outputs) {
      Tensor gone = Tensor::zeros({heads, 1, 1});  // (heads, 1, 1)
      gone.set({head, 0, 0}, 1);
      return masked_fill(outputs, gone, 0);  // (..., heads, queries, d_v)
    });
    raw(result)[head] = static_cast<real>(whole - without);
  }
  return result;
}

LinkMaps link_maps(const Target& target, const std::string& layer,
                   const MultiHeadAttention& attention) {
  const Tensor weights =
      recorded(target, name_in(layer, "weights"));  // (..., heads, queries, keys)
  const Tensor values =
      attention.by_heads(recorded(target, name_in(layer, "value")));  // (..., heads, keys, d_v)
  return {weights, value_shares(weights, values, attention.output.merged()),
          gradient_times_attention(target, layer), link_ablation(target, layer)};
}

Tensor rank_agreement(const Tensor& a, const Tensor& b, const Mask& mask) {
  if (a.ndim() < 2 || a.shape() != b.shape()) {
    throw Error("rank_agreement: the maps are " + to_string(a.shape()) + " and " +
                to_string(b.shape()) + ": both must be (..., queries, keys), of the same sizes.");
  }
  const Tensor seen = expand(mask.tensor(a.shape()), a.shape()).contiguous();  // as a
  const Tensor one = a.contiguous(), other = b.contiguous();  // (..., queries, keys)
  const Index queries = a.size(-2), keys = a.size(-1);
  const Shape maps = a.shape().removed(-1).removed(-1);  // (...)
  std::vector<real> result;
  for (Index map = 0; map < maps.numel(); ++map) {
    double sum = 0, rows = 0;
    for (Index i = 0; i < queries; ++i) {
      const Index at = (map * queries + i) * keys;
      const double r = row_agreement(raw(one) + at, raw(other) + at, raw(seen) + at, keys);
      if (std::isinf(r)) continue;
      sum += r;
      ++rows;
    }
    const double none = std::numeric_limits<double>::quiet_NaN();
    result.push_back(static_cast<real>(rows == 0 ? none : sum / rows));
  }
  return Tensor(maps, result);  // (...)
}

}  // namespace tapestry
