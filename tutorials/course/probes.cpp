#include "course/probes.hpp"

#include "course/grammar.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/training.hpp"

namespace tapestry {
namespace {

const Grammar grammar;
const Vocabulary vocabulary(grammar.words());

}  // namespace

std::vector<ModelPoint> model_points(const Transformer& model, bool within_layers) {
  std::vector<ModelPoint> list = {{"embedding", "embedding"}};
  for (Index i = 0; i < model.options.num_layers; ++i) {
    const std::string layer = "layer " + std::to_string(i), block = "blocks." + std::to_string(i);
    if (within_layers) list.push_back({layer + ", attention", block + ".middle"});
    list.push_back({within_layers ? layer + ", whole" : layer, block + ".output"});
  }
  return list;
}

std::vector<Probe> trained_probes(const Transformer& model, const std::vector<ModelPoint>& at,
                                  Index steps) {
  std::vector<Probe> probes;
  Parameters parameters;
  for (const ModelPoint& point : at) {
    Probe probe = lens(model);
    for (Tensor* part : {&probe.norm.weight, &probe.norm.bias, &probe.logits.weight}) {
      *part = part->clone();
      parameters.push_back({point.name + std::to_string(parameters.size()), *part});
    }
    probes.push_back(probe);
  }
  Adam adam(parameters, {.learning_rate = 3e-3});
  const auto loss_of_step = [&](Index step) {
    Random data(8, static_cast<std::uint64_t>(step));
    const Batch batch = grammar.batch(vocabulary, 64, data);  // (64, length)
    const Capture seen;
    model(batch.inputs);
    Tensor loss = 0;  // ()
    for (std::size_t i = 0; i < at.size(); ++i) {
      loss = loss + cross_entropy(probes[i](seen[at[i].filed].detach()), batch.targets);
    }
    return loss;
  };
  train(adam, loss_of_step, {.steps = steps, .what = "probes"});
  return probes;
}

Transformer deep_model(int seed, Index steps) {
  Random random(1, static_cast<std::uint64_t>(seed));
  Transformer model(
      {.vocab_size = vocabulary.size(), .max_length = 7, .d_model = 32, .num_layers = 6}, random);
  Adam adam(model.parameters(), {.learning_rate = 3e-3});
  const auto loss_of_step = [&](Index step) {
    Random data(static_cast<std::uint64_t>(seed) + 10, static_cast<std::uint64_t>(step));
    const Batch batch = grammar.batch(vocabulary, 64, data);   // (64, length)
    return cross_entropy(model(batch.inputs), batch.targets);  // logits (64, 7, vocabulary)
  };
  if (steps > 0) train(adam, loss_of_step, {.steps = steps, .what = "six layers"});
  return model;
}

}  // namespace tapestry
