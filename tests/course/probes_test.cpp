// The lens and the probes of step 50.
#include "course/probes.hpp"

#include "catch.hpp"
#include "course/grammar.hpp"
#include "course/trained_by_hand.hpp"
#include "ops/expect.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

const Grammar grammar;
const Vocabulary vocabulary(grammar.words());

}  // namespace

TEST_CASE("the lens says after the last layer what the model says", "[phase5][course]") {
  const Transformer model = deep_model(1, 0);
  const std::vector<ModelPoint> at = model_points(model, false), within = model_points(model, true);
  CHECK(at.size() == 7);
  CHECK(within.size() == 13);
  CHECK(within[1].name == "layer 0, attention");
  CHECK(within[12].name == "layer 5, whole");
  Random random(1);
  const Batch batch = grammar.batch(vocabulary, 3, random);  // (3, 7)
  const Capture seen;
  const Tensor logits = model(batch.inputs);  // (3, 7, vocabulary)
  CHECK(difference_to(lens(model)(seen[at[6].filed]), logits) == "");
  CHECK(difference_to(lens(model)(seen[within[12].filed]), logits) == "");
  CHECK(largest_difference(lens(model)(seen[within[11].filed]), logits) > 1e-3);
}

TEST_CASE("probes learn from the grammar's sentences, and the model stays as it is",
          "[phase5][course]") {
  const Transformer model = deep_model(1, 0), same = deep_model(1, 0);
  const std::vector<ModelPoint> at = {{"layer 2", "blocks.2.output"}};
  const std::vector<Probe> probes = trained_probes(model, at, 3);
  CHECK(distance_between(model, same) == 0);
  Probe by_hand = lens(same);
  Adam adam({{"a", by_hand.norm.weight = by_hand.norm.weight.clone()},
             {"b", by_hand.norm.bias = by_hand.norm.bias.clone()},
             {"c", by_hand.logits.weight = by_hand.logits.weight.clone()}},
            {.learning_rate = 3e-3});
  const auto loss = [&](Index step) {
    Random data(8, static_cast<std::uint64_t>(step));
    const Batch b = grammar.batch(vocabulary, 64, data);  // (64, 7)
    const Capture seen;
    same(b.inputs);
    return cross_entropy(by_hand(seen["blocks.2.output"]), b.targets);  // ()
  };
  train(adam, loss, {.steps = 3, .what = ""});
  REQUIRE(probes.size() == 1);
  CHECK(difference_to(probes[0].logits.weight, by_hand.logits.weight) == "");
  CHECK(difference_to(probes[0].norm.bias, by_hand.norm.bias) == "");
  CHECK(largest_difference(probes[0].logits.weight, model.lm_head.weight) > 1e-3);
}

TEST_CASE("the deep model of step 50 is trained on 64 sentences at a time", "[phase5][course]") {
  const Transformer by_hand = deep_model(2, 0);
  CHECK(by_hand.options.num_layers == 6);
  CHECK(by_hand.options.d_model == 32);
  train_by_hand(by_hand, {3e-3, 3e-3, 0, 3}, [&](Index step) {
    Random data(12, static_cast<std::uint64_t>(step));
    const Batch b = grammar.batch(vocabulary, 64, data);  // (64, 7)
    return cross_entropy(by_hand(b.inputs), b.targets);   // logits (64, 7, vocabulary)
  });
  CHECK(distance_between(deep_model(2, 3), by_hand) < 1e-6);
}
