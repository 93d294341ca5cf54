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
  std::vector<Attended> layers;
  for (const Tensor& weights : captured_weights(seen)) {
    layers.push_back({weights, mask_of(model.attention(std::ssize(layers))), ids});
  }
  return layers;
}

// How many words come before the first that comes again; half of them at least, all if none does.
Index words_to_move(const std::vector<std::int32_t>& ids) {
  Index different = 0;
  for (auto at = ids.begin(); at != ids.end() && std::find(ids.begin(), at, *at) == at; ++at) {
    ++different;
  }
  return std::max<Index>(different, (std::ssize(ids) + 1) / 2);
}

// These in random order; a first <bos> keeps its place.
Indices shuffled(const Indices& ids, std::int32_t bos, int seed) {
  const Index stay = !ids.values.empty() && ids.values.front() == bos ? 1 : 0;
  Random random(static_cast<std::uint64_t>(seed));
  Indices result = ids;
  const std::vector<Index> order = random.permutation(words_to_move(ids.values) - stay);
  for (std::size_t i = 0; i < order.size(); ++i) {
    result.values[static_cast<std::size_t>(stay) + i] =
        ids.values[static_cast<std::size_t>(stay + order[i])];
  }
  return result;
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

int baselines_of(const Model& model) { return is_large(model) ? 2 : 8; }

Detected detect(const Subject& subject, const Indices& ids) {
  Indices text = ids;
  text.shape = {1, ids.shape[0]};
  const auto model = attended(subject.model, text);
  std::vector<Detected> runs;  // each beside one untrained model and one order of the words: all of
                               // them may choose the offset that suits them, as the model may
  for (int i = 0; i < baselines_of(subject.model); ++i) {
    const auto fresh = attended(subject.model.untrained(std::uint64_t(i)), text),
               mixed = attended(subject.model, shuffled(text, subject.bos, i));
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
        one.letter = over(runs, l, h, p, [](const Evidence& e) { return e.letter; });
        one.place = over(runs, l, h, p, [](const Evidence& e) { return e.place; });
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
