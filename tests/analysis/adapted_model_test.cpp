// What reads the weights of a model with adapters finds what it finds in the merged model.
#include <cmath>

#include "catch.hpp"
#include "nn/architectures.hpp"
#include "tapestry/analysis/attribution.hpp"
#include "tapestry/analysis/circuit.hpp"
#include "tapestry/analysis/faithfulness.hpp"
#include "tapestry/analysis/folding.hpp"
#include "tapestry/nn/adapters.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

const Indices ids({5}, {0, 3, 2, 6, 1});

struct Pair {
  Transformer model, merged;
};

Pair adapted(const TransformerOptions& options) {
  Transformer model = scattered(options);
  Random random(8);
  add_adapters(model, {.rank = 2, .maps = {"query", "key", "value", "output", "up", "down"}},
               random);
  if (options.gated) {
    for (TransformerBlock& block : model.blocks)
      block.feed_forward->gate->adapter.emplace(4, 3, 1, 0, random);
  }
  scatter(adapter_parameters(model), random, 0.4);
  Transformer merged = model;
  merge_adapters(merged);
  return {model, merged};
}

std::vector<TransformerOptions> with_norms_in_front() {
  return {tiny(), like_llama(), like_neox(), like_gpt_neo()};
}

}  // namespace

TEST_CASE("attribution of a model with adapters adds up, as in the merged one",
          "[phase7][analysis]") {
  for (const TransformerOptions& options : with_norms_in_front()) {
    const Pair pair = adapted(options);
    const Question question{.position = 3, .token = 4, .against = 1};
    const Attribution parts = attribute(pair.model, ids, question);
    const Attribution expected = attribute(pair.merged, ids, question);
    CHECK(std::abs(parts.error) < nearly * (1 + std::abs(parts.difference)));
    CHECK(difference_to(parts.heads, expected.heads, 10 * nearly) == "");
    CHECK(difference_to(parts.feed_forward, expected.feed_forward, 10 * nearly) == "");
  }
}

TEST_CASE("folding a model with adapters merges them", "[phase7][analysis]") {
  for (const TransformerOptions& options : with_norms_in_front()) {
    const Pair pair = adapted(options);
    const Transformer plain = folded(pair.model);
    CHECK_FALSE(has_adapters(plain));
    CHECK(difference_to(plain(ids), pair.merged(ids), 20 * nearly) == "");
    CHECK(has_adapters(pair.model));
  }
}

TEST_CASE("the circuits of a model with adapters are those of the merged one",
          "[phase7][analysis]") {
  for (const TransformerOptions& options : with_norms_in_front()) {
    const Pair pair = adapted(options);
    const Circuit one = circuit(pair.model, 1, 1), same = circuit(pair.merged, 1, 1);
    for (const auto part : {&Circuit::query, &Circuit::key, &Circuit::value, &Circuit::output}) {
      CHECK(difference_to(one.*part, same.*part, 10 * nearly) == "");
    }
    CHECK(difference_to(token_logits(pair.model, one, ids), token_logits(pair.merged, same, ids),
                        20 * nearly) == "");
  }
}

TEST_CASE("value shares and single heads of a layer with adapters count them",
          "[phase7][analysis]") {
  const Pair pair = adapted(tiny());
  const MultiHeadAttention& layer = pair.model.blocks[1].attention;
  const MultiHeadAttention& merged = pair.merged.blocks[1].attention;
  const Tensor x = random_tensor({1, 5, 4});
  const auto maps = [&](const MultiHeadAttention& one) {
    const Target target = [&] { return sum(one(x, {}, {.need_weights = true})); };
    return link_maps(target, "", one);
  };
  CHECK(difference_to(maps(layer).value_shares, maps(merged).value_shares, 10 * nearly) == "");
  CHECK(difference_to(layer.head(0)(x) + layer.head(1)(x), layer(x), nearly) == "");
}
