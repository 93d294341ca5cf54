// An experiment for step 50: is a probe's loss what can be read from a model, or a lack of
// training? Ten times the steps (1500), on ten models of six layers and ten untrained ones.
//
// For the embedding the answer is known, trained or not: it holds one word and its place. How much
// these two leave open is counted through all sentences of the grammar.
// Takes about two minutes of processor time.
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "course/grammar.hpp"
#include "course/probes.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

const Grammar grammar;
const Vocabulary vocabulary(grammar.words());
constexpr int seeds = 10;
constexpr Index steps = 1500;

// By place and word: how probable each next word is, together with them.
using Joint = std::map<std::pair<std::size_t, std::string>, std::map<std::string, double>>;

void add_sentences(const Words& beginning, double probability, Joint& joint) {
  const std::string word = beginning.empty() ? "<bos>" : beginning.back();
  for (const auto& [next, share] : grammar.next_word(beginning)) {
    joint[{beginning.size(), word}][next] += probability * share;
    if (next == "<eos>") continue;
    Words longer = beginning;
    longer.push_back(next);
    add_sentences(longer, probability * share, joint);
  }
}

// The least possible loss of a guesser that sees one word and its place: mean of the seven places.
double least_loss() {
  Joint joint;
  add_sentences({}, 1, joint);
  double loss = 0;
  for (const auto& [seen, nexts] : joint) {
    double all = 0;
    for (const auto& [next, probability] : nexts) all += probability;
    for (const auto& [next, probability] : nexts) loss -= probability * std::log(probability / all);
  }
  return loss / 7;
}

// The loss of a trained probe at each point of the model, on the sentences of step 50: (points).
Tensor probe_losses(const Transformer& model) {
  const std::vector<ModelPoint> at = model_points(model, false);
  const std::vector<Probe> probes = trained_probes(model, at, steps);
  Random random(5);
  const Batch test = grammar.batch(vocabulary, 500, random);  // (500, length)
  const Capture seen;
  model(test.inputs);
  std::vector<Tensor> losses;
  for (std::size_t i = 0; i < at.size(); ++i) {
    losses.push_back(cross_entropy(probes[i](seen[at[i].filed]), test.targets));
  }
  return stack(losses, 0);  // (points)
}

}  // namespace

int main() try {
  std::vector<Tensor> trained, untrained;  // of each seed (points)
  for (int seed = 1; seed <= seeds; ++seed) {
    trained.push_back(probe_losses(deep_model(seed, 300)));
    untrained.push_back(probe_losses(deep_model(seed, 0)));
  }
  std::printf("Experiment 50_probes: six layers, %d seeds; loss of probes trained for %d steps\n",
              seeds, static_cast<int>(steps));
  std::printf("                  trained       untrained\n");
  const std::vector<ModelPoint> at = model_points(deep_model(1, 0), false);
  std::vector<Spread> means;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto over_seeds = [&](const std::vector<Tensor>& losses) {
      const auto here = static_cast<Index>(i);
      return spread(slice(stack(losses, 1), 0, here, here + 1));  // of (1, seeds)
    };
    means.push_back(over_seeds(trained));
    const Spread fresh = over_seeds(untrained);
    std::printf("%-12s %5.2f +- %.2f   %5.2f +- %.2f\n", at[i].name.c_str(), means[i].mean,
                means[i].deviation, fresh.mean, fresh.deviation);
  }
  std::printf("one word and its place leave open %.2f\n", least_loss());
  std::printf("of the loss that the layers take away, the first one takes %.0f %%\n",
              100 * (means[0].mean - means[1].mean) / (means[0].mean - means.back().mean));
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
