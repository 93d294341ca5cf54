#include "course/pruning.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"

namespace tapestry::pruning {

Heads all_heads(const Transformer& model) {
  return (1U << (model.options.num_heads * model.options.num_layers)) - 1;
}

double quality(const Subject& subject, Heads kept, Replacement by) {
  Capture reach;
  const Index heads = subject.model.options.num_heads;
  for (Index layer = 0; layer < subject.model.options.num_layers; ++layer) {
    Tensor keep = Tensor::zeros({heads, 1, 1});  // (heads, 1, 1)
    for (Index h = 0; h < heads; ++h) keep.set({h, 0, 0}, kept >> (layer * heads + h) & 1U);
    reach.replace("blocks." + std::to_string(layer) + ".attention.heads",
                  [&subject, keep, by](const Tensor& said) {  // (..., heads, length, d_k)
                    if (by == Replacement::zero) return said * keep;
                    return said * keep + usual_output(said, subject.test) * (1.0 - keep);
                  });
  }
  const Tensor logits = subject.model(subject.test.inputs);  // (texts, length, vocabulary)
  const std::vector<real> said = softmax(logits).values();
  const std::vector<std::int32_t>& right = subject.test.targets.values;
  const auto words = static_cast<std::size_t>(logits.size(-1));
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (right[i] < 0) continue;
    sum += double{said[i * words + static_cast<std::size_t>(right[i])]};
    count += 1;
  }
  return sum / count;
}

std::vector<double> all_qualities(const Subject& subject, Replacement by) {
  std::vector<double> result;
  for (Heads kept = 0; kept <= all_heads(subject.model); ++kept) {
    result.push_back(quality(subject, kept, by));
  }
  return result;
}

std::vector<double> gate_gradients(const Subject& subject) {
  const Index heads = subject.model.options.num_heads, texts = subject.test.inputs.shape[0];
  std::vector<Tensor> gates;  // of each layer
  Capture reach;
  for (Index layer = 0; layer < subject.model.options.num_layers; ++layer) {
    const Tensor gate = Tensor::ones({texts, heads, 1, 1});  // (texts, heads, 1, 1)
    gates.push_back(gate);
    reach.replace(
        "blocks." + std::to_string(layer) + ".attention.heads",
        [gate](const Tensor& said) { return said * gate; });  // (texts, heads, length, d_k)
  }
  Tape tape(gates);
  const Tensor logits = subject.model(subject.test.inputs);  // (texts, length, vocabulary)
  const Gradients gradients = tape.backward(cross_entropy(logits, subject.test.targets));
  std::vector<double> result;
  for (const Tensor& gate : gates) {
    const Tensor size = abs(gradients[gate]);  // (texts, heads, 1, 1)
    for (const real one : mean(size, {0, 2, 3}).values()) result.push_back(double{one});
  }
  return result;
}

namespace {

// The head of `kept` that is missed least where `from` were present.
Heads cheapest(const std::vector<double>& qualities, Heads kept, Heads from) {
  Heads found = 0;
  for (Heads head = 1; head <= kept; head <<= 1) {
    if (!(kept & head)) continue;
    if (!found || qualities[from - head] > qualities[from - found]) found = head;
  }
  return found;
}

// The head of `kept` with the least importance.
Heads least(const std::vector<double>& importance, Heads kept) {
  std::size_t found = importance.size();
  for (std::size_t h = 0; h < importance.size(); ++h) {
    if (!(kept >> h & 1U)) continue;
    if (found == importance.size() || importance[h] < importance[found]) found = h;
  }
  return kept == 0 ? 0 : 1U << found;
}

}  // namespace

// The mean over all random orders is that over all sets of a size, for every one of them comes up
// equally often.
Curves curves(const std::vector<double>& qualities, const std::vector<double>& importance) {
  const auto all = static_cast<Heads>(qualities.size() - 1);
  const auto sizes = static_cast<std::size_t>(std::popcount(all)) + 1;
  std::vector<double> by_cost(sizes), by_gradient(sizes), anew(sizes), best(sizes), random(sizes),
      count(sizes);
  for (Heads kept = 0; kept <= all; ++kept) {
    const auto left = static_cast<std::size_t>(std::popcount(kept));
    best[left] = std::max(best[left], qualities[kept]);
    random[left] += qualities[kept];
    count[left] += 1;
  }
  for (std::size_t left = 0; left < sizes; ++left) random[left] /= count[left];
  Heads one = all, two = all, three = all;  // what the three orders keep
  for (std::size_t left = sizes; left-- > 0;) {
    by_cost[left] = qualities[one];
    by_gradient[left] = qualities[two];
    anew[left] = qualities[three];
    one -= cheapest(qualities, one, all);
    two -= least(importance, two);
    three -= cheapest(qualities, three, three);
  }
  return {by_cost, by_gradient, anew, best, random};
}

std::size_t needed(const std::vector<double>& curve) {
  std::size_t left = curve.size() - 1;
  while (left > 0 && curve[left - 1] >= enough * curve.back()) --left;
  return left;
}

Heads not_missed(const Subject& subject, Replacement by) {
  const Heads all = all_heads(subject.model);
  const double whole = quality(subject, all, by);
  Heads found = 0;
  for (Heads head = 1; head <= all; head <<= 1) {
    if (quality(subject, all - head, by) >= enough * whole) found |= head;
  }
  return found;
}

}  // namespace tapestry::pruning
