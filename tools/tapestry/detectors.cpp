#include "detectors.hpp"

#include <algorithm>

#include "tapestry/analysis/rollout.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"

namespace tapestry::command {
namespace {

// ids (sentences, length) as one model reads them: what each layer attended to.
std::vector<Attended> attended(const Transformer& model, const Indices& ids) {
  const Capture seen;
  model(ids);
  const Mask mask = model.options.causal ? Mask::causal() : Mask();
  std::vector<Attended> layers;
  for (const Tensor& weights : filed_weights(seen)) layers.push_back({weights, mask, ids});
  return layers;
}

std::vector<Attended> attended_untrained(const TransformerOptions& options, const Indices& ids) {
  TransformerOptions random_options = options;
  random_options.initialiser = init::inverse_root;  // how it began is in no file
  std::vector<Attended> layers;
  for (int i = 0; i < untrained_models; ++i) {
    Random random(static_cast<std::uint64_t>(i));
    const auto one = attended(Transformer(random_options, random), ids);
    if (layers.empty()) layers = one;
    for (std::size_t l = 0; i > 0 && l < one.size(); ++l) {
      layers[l].weights = concat({layers[l].weights, one[l].weights}, 0);
    }
  }
  std::vector<std::int32_t> repeated;
  for (int i = 0; i < untrained_models; ++i) {
    repeated.insert(repeated.end(), ids.values.begin(), ids.values.end());
  }
  for (Attended& layer : layers) layer.ids = Indices({untrained_models, ids.shape[1]}, repeated);
  return layers;
}

Indices shuffled_ids(const Indices& ids) {
  const auto length = static_cast<Index>(ids.values.size());
  const Index stay = length > 0 && ids.values.front() == Vocabulary::bos ? 1 : 0;
  std::vector<std::int32_t> result;
  Random random(1);
  for (int i = 0; i < shuffled_texts; ++i) {
    result.insert(result.end(), ids.values.begin(), ids.values.begin() + stay);
    for (const Index place : random.permutation(length - stay)) {
      result.push_back(ids.values[static_cast<std::size_t>(stay + place)]);
    }
  }
  return Indices({shuffled_texts, length}, std::move(result));
}

double lead(const Evidence& one) {
  return one.score.mean - std::max(one.untrained.mean, one.uniform);
}

}  // namespace

Detected detect(const ModelFile& file, const Indices& ids) {
  Indices text = ids;
  text.shape = {1, ids.shape[0]};
  const auto model = attended(file.model, text),
             untrained = attended_untrained(file.model.options, text),
             shuffled = attended(file.model, shuffled_ids(text));
  Detected layers;
  for (std::size_t l = 0; l < model.size(); ++l) {
    layers.push_back(pattern_evidence(model[l], untrained[l], shuffled[l]));
  }
  return layers;
}

const Evidence& foremost(const std::vector<Evidence>& of_head) {
  const Evidence* best = &of_head.front();
  for (const Evidence& one : of_head) {
    const bool told_by_entropy = one.pattern == Pattern::uniform || one.pattern == Pattern::sparse;
    // A score that no row can show is NaN, and never ahead.
    if (!told_by_entropy && (lead(one) > lead(*best) || !(lead(*best) == lead(*best)))) best = &one;
  }
  return *best;
}

}  // namespace tapestry::command
