#include "tapestry/analysis/rollout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

// with_residual of each layer, all of one shape (..., length, length).
std::vector<Tensor> links(const char* name, const std::vector<Tensor>& layers) {
  if (layers.empty()) throw Error(std::string(name) + ": there are no layers.");
  for (const Tensor& weights : layers) {
    if (weights.shape() == layers[0].shape()) continue;
    throw Error(std::string(name) + ": one layer's weights are " + to_string(layers[0].shape()) +
                ", another's " + to_string(weights.shape()) + ": they must have the same shape.");
  }
  std::vector<Tensor> result;
  for (const Tensor& weights : layers) result.push_back(with_residual(weights));
  return result;
}

// A flow network: levels of `length` nodes each. Level 0 is the output of the last layer; edges
// lead from the nodes of level l to those of level l + 1. The last level is the words.
class FlowNetwork {
 public:
  // Matrices (length, length), last layer first.
  FlowNetwork(const std::vector<const real*>& matrices, Index length)
      : length_(length), last_(static_cast<Index>(matrices.size()) * length) {
    for (const real* matrix : matrices) free_.insert(free_.end(), matrix, matrix + length * length);
    used_.assign(free_.size(), 0);
  }

  // Along shortest augmenting paths, until there is none (Edmonds & Karp 1972).
  double maximum_flow(Index from, Index to) {
    double flow = 0;
    while (find_path(from, last_ + to)) {
      double capacity = std::numeric_limits<double>::infinity();
      walk([&](double& free, double&) { capacity = std::min(capacity, free); });
      walk([&](double& free, double& back) { free -= capacity, back += capacity; });
      flow += capacity;
    }
    return flow;
  }

 private:
  // The edge between a node and one of the next level.
  std::size_t edge(Index place, Index next) const {
    return static_cast<std::size_t>(place * length_ + next % length_);
  }

  // Breadth-first search: forward along edges with residual capacity, backward along edges in use.
  bool find_path(Index from, Index to) {
    came_from_.assign(static_cast<std::size_t>(last_ + length_), -1);
    came_from_[static_cast<std::size_t>(from)] = from;
    queue_.assign(1, from);
    const auto visit = [&](Index place, Index next, double capacity) {
      if (capacity <= 0 || came_from_[static_cast<std::size_t>(next)] >= 0) return;
      came_from_[static_cast<std::size_t>(next)] = place;
      queue_.push_back(next);
    };
    for (std::size_t i = 0; i < queue_.size() && came_from_[static_cast<std::size_t>(to)] < 0;
         ++i) {
      const Index place = queue_[i], level = place - place % length_;
      for (Index k = 0; level < last_ && k < length_; ++k) {
        visit(place, level + length_ + k, free_[edge(place, k)]);
      }
      for (Index k = 0; level > 0 && k < length_; ++k) {
        visit(place, level - length_ + k, used_[edge(level - length_ + k, place)]);
      }
    }
    end_ = to;
    return came_from_[static_cast<std::size_t>(to)] >= 0;
  }

  // f(residual capacity along the path, that against it) for each edge of the path found.
  template <class Function>
  void walk(const Function& f) {
    Index place = end_;
    for (Index before; (before = came_from_[static_cast<std::size_t>(place)]) != place;
         place = before) {
      if (before < place) {
        f(free_[edge(before, place)], used_[edge(before, place)]);
      } else {
        f(used_[edge(place, before)], free_[edge(place, before)]);
      }
    }
  }

  Index length_, last_;              // `last_`: number of the first word
  std::vector<double> free_, used_;  // of edge (node, node of the next level)
  std::vector<Index> came_from_, queue_;
  Index end_ = 0;
};

void check_weights(const Tensor& weights) {
  for (const real value : weights.values()) {
    if (std::isfinite(value) && value >= 0) continue;
    throw Error("attention_flow: a weight is " + exact_text(value) +
                ": weights must be finite and not negative.");
  }
}

}  // namespace

std::vector<Tensor> captured_weights(const Capture& seen) {
  const auto name = [](std::size_t i) {
    return "blocks." + std::to_string(i) + ".attention.weights";
  };
  std::vector<Tensor> result = {seen[name(0)]};  // (batch, heads, length, length) each
  while (seen.contains(name(result.size()))) result.push_back(seen[name(result.size())]);
  return result;
}

Tensor with_residual(const Tensor& weights) {
  if (weights.ndim() < 3 || weights.size(-1) != weights.size(-2) || weights.size(-3) < 1) {
    throw Error("attention rollout: weights are " + to_string(weights.shape()) +
                ": they must be (..., heads, length, length), with a head at least.");
  }
  // (..., length, length)
  const Tensor mixed = mean(weights, -3) * 0.5 + Tensor::eye(weights.size(-1)) * 0.5;
  return mixed / sum(mixed, -1, true);  // (..., length, length)
}

Tensor attention_rollout(const std::vector<Tensor>& layers) {
  const std::vector<Tensor> list = links("attention_rollout", layers);
  Tensor result = list[0];  // (..., length, length)
  for (std::size_t i = 1; i < list.size(); ++i) result = matmul(list[i], result);
  return result;
}

Tensor attention_flow(const std::vector<Tensor>& layers) {
  std::vector<Tensor> list = links("attention_flow", layers);
  for (const Tensor& weights : layers) check_weights(weights);
  for (Tensor& matrix : list) matrix = matrix.contiguous();
  const Tensor result = Tensor::zeros(list[0].shape());  // (..., length, length)
  const Index length = result.size(-1), size = length * length;
  for (Index at = 0; at < result.numel(); ++at) {
    std::vector<const real*> matrices;  // the last layer comes first
    for (const Tensor& m : list) matrices.insert(matrices.begin(), raw(m) + at / size * size);
    const double flow = FlowNetwork(matrices, length).maximum_flow(at % size / length, at % length);
    raw(result)[at] = static_cast<real>(flow);
  }
  return result;
}

}  // namespace tapestry
