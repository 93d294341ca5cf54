#include "detectors.hpp"

#include <algorithm>

#include "tapestry/analysis/rollout.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"

namespace tapestry::command {
namespace {

// The attention weights of each layer when a model reads ids (sentences, length).
std::vector<Attended> attended(const Model& model, const Indices& ids) {
  const Capture seen;
  model(ids, {.need_weights = true});
  const Mask mask = model.options().is_causal ? Mask::causal() : Mask();
  std::vector<Attended> layers;
  for (const Tensor& weights : filed_weights(seen)) layers.push_back({weights, mask, ids});
  return layers;
}

// The words in random order; a first <bos> keeps its place.
Indices shuffled(const Indices& ids, int seed) {
  const auto length = static_cast<Index>(ids.values.size());
  const Index stay = length > 0 && ids.values.front() == Vocabulary::bos ? 1 : 0;
  Random random(static_cast<std::uint64_t>(seed));
  std::vector<std::int32_t> result(ids.values.begin(), ids.values.begin() + stay);
  for (const Index place : random.permutation(length - stay)) {
    result.push_back(ids.values[static_cast<std::size_t>(stay + place)]);
  }
  return Indices(ids.shape, std::move(result));
}

// Mean and deviation of one baseline over all runs in which the pattern is possible.
template <class Baseline>
Spread over(const std::vector<Detected>& runs, std::size_t layer, std::size_t head,
            std::size_t pattern, Baseline baseline) {
  std::vector<real> means;
  for (const Detected& run : runs) {
    const Spread one = baseline(run[layer][head][pattern]);
    if (one.count > 0) means.push_back(static_cast<real>(one.mean));
  }
  return spread(Tensor({static_cast<Index>(means.size())}, means));
}

double lead(const Evidence& one) {
  return one.score.mean - std::max(one.untrained.mean, one.uniform);
}

}  // namespace

Detected detect(const ModelFile& file, const Indices& ids) {
  Indices text = ids;
  text.shape = {1, ids.shape[0]};
  const auto model = attended(file.model, text);
  std::vector<Detected> runs;  // each beside one untrained model and one order of the words: all of
                               // them may choose the offset that suits them, as the model may
  for (int i = 0; i < baselines; ++i) {
    const auto fresh = attended(file.model.untrained(std::uint64_t(i)), text),
               mixed = attended(file.model, shuffled(text, i));
    Detected& run = runs.emplace_back();
    for (std::size_t l = 0; l < model.size(); ++l) {
      run.push_back(pattern_evidence(model[l], fresh[l], mixed[l]));
    }
  }
  Detected result = runs.front();
  for (std::size_t l = 0; l < result.size(); ++l) {
    for (std::size_t h = 0; h < result[l].size(); ++h) {
      for (std::size_t p = 0; p < result[l][h].size(); ++p) {
        Evidence& one = result[l][h][p];
        one.untrained = over(runs, l, h, p, [](const Evidence& e) { return e.untrained; });
        one.shuffled = over(runs, l, h, p, [](const Evidence& e) { return e.shuffled; });
      }
    }
  }
  return result;
}

const Evidence& best_pattern(const std::vector<Evidence>& of_head) {
  const Evidence* best = &of_head.front();
  for (const Evidence& one : of_head) {
    const bool shown_by_entropy = one.pattern == Pattern::uniform || one.pattern == Pattern::sparse;
    // A score without any row that counts is NaN, and never the best.
    if (!shown_by_entropy && (lead(one) > lead(*best) || !(lead(*best) == lead(*best))))
      best = &one;
  }
  return *best;
}

}  // namespace tapestry::command
