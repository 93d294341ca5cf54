#include "course/left_out.hpp"

#include <cmath>
#include <numeric>

#include "catch.hpp"
#include "course/tasks.hpp"
#include "course/trained_by_hand.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tensor.hpp"

using namespace tapestry;

namespace {

const Indices ids({2, 5}, {1, 4, 2, 9, 9, 3, 0, 7, 6, 5});  // (2, 5)

Transformer model_with(TransformerOptions options) {
  Random random(3);
  options.vocab_size = 10;
  options.max_length = 5;
  options.d_model = 8;
  Transformer model(options, random);
  for (const Parameter& p : model.parameters()) {  // gains and shifts that are not 1 and 0
    for (Index i = 0; i < p.value.numel(); ++i) {
      p.value.data()[i] += static_cast<real>(0.2 * random.normal());
    }
  }
  return model;
}

double difference(const Transformer& model, const Parts& parts) {
  return largest_difference(model(ids), logits_of(model, ids, parts));
}

}  // namespace

TEST_CASE("a transformer by its parts is the library's", "[course][phase2]") {
  CHECK(difference(model_with({}), {}) < 1e-5);
  CHECK(difference(model_with({.norm_place = NormPlace::post}), {.post_norm = true}) < 1e-5);
  CHECK(difference(model_with({.norm_kind = NormKind::rms}), {}) < 1e-5);
  CHECK(difference(model_with({.has_feed_forward = false}), {.feed_forward = false}) < 1e-5);
  CHECK(difference(model_with({.activation = Activation::none}), {.activation = false}) < 1e-5);
  CHECK(difference(model_with({.positions = Positions::none}), {.positions = false}) < 1e-5);
}

TEST_CASE("each part that is left out changes the logits", "[course][phase2]") {
  const Transformer model = model_with({});
  for (const Parts& parts :
       {Parts{.attention = false}, Parts{.divided = false}, Parts{.feed_forward = false},
        Parts{.activation = false}, Parts{.residual = false}, Parts{.norm = false},
        Parts{.post_norm = true}, Parts{.positions = false}}) {
    CHECK(difference(model, parts) > 1e-3);
  }
}

TEST_CASE("undivided scores are those of queries that are longer by the root of d_k",
          "[course][phase2]") {
  const Transformer model = model_with({.num_heads = 2, .num_layers = 1});  // d_k 4
  const Tensor undivided = logits_of(model, ids, {.divided = false});       // (2, 5, 10)
  Tensor query = model.blocks[0].attention.query.weight;                    // (8, 8)
  for (Index i = 0; i < query.numel(); ++i) query.data()[i] *= 2;
  CHECK(largest_difference(undivided, model(ids)) < 1e-5);
}

TEST_CASE("dropout by parts is the library's, from the same generator", "[course][phase2]") {
  const Transformer model = model_with({.dropout = 0.3});
  Random ours(5), library(5);
  const Tensor by_parts = logits_of(model, ids, {}, &ours);   // (2, 5, 10)
  const Tensor whole = model(ids, {}, {.random = &library});  // (2, 5, 10)
  CHECK(largest_difference(by_parts, whole) < 1e-5);
  CHECK(largest_difference(by_parts, model(ids)) > 1e-3);
}

TEST_CASE("what learns to sort improves, and what breaks down has an infinite loss",
          "[course][phase2]") {
  const SortingResult once = learn_to_sort({}, {.layers = 1, .steps = 25, .warmup_steps = 5}, 1);
  CHECK(once.loss < 2.5);  // guessing: 3.09
  CHECK(once.right >= 0);
  CHECK(once.training > 0);
  const SortingRecipe steep{.layers = 1,
                            .steps = 25,
                            .warmup_steps = 0,
                            .learning_rate = sizeof(real) == 8 ? 1e250 : 1e30};
  CHECK(std::isinf(learn_to_sort({}, steep, 1).loss));
}

TEST_CASE("what learns to sort reads 32 prompts at a time; its rate rises, then falls or stays",
          "[course][phase2]") {
  const bool falls = GENERATE(true, false);
  const TinyTask task(TaskKind::sort, {.letters = 16, .shortest = 4, .longest = 6});
  Random start(3), fresh(77);
  const Transformer model({.vocab_size = task.vocabulary().size(),
                           .max_length = task.length(),
                           .d_model = 32,
                           .num_layers = 1,
                           .initializer = init::lecun_normal},
                          start);
  const std::vector<double> losses =
      train_by_hand(model, {1e-2, falls ? 0 : 1e-2, 20, 50}, [&](Index step) {
        Random data(3, static_cast<std::uint64_t>(step % 7));
        const Batch b = task.batch(Part::train, 32, data);  // (32, length)
        return cross_entropy(model(b.inputs), b.targets);   // logits (32, length, vocabulary)
      });
  const Batch test = task.batch(Part::held_out, 1000, fresh);  // (1000, length)
  const SortingResult found =
      learn_to_sort({}, {.layers = 1, .steps = 50, .falls = falls, .batches = 7}, 3);
  const double last = std::accumulate(losses.end() - 20, losses.end(), 0.0);
  CHECK(found.training == Approx(last / 20).epsilon(1e-5));
  const Tensor logits = logits_of(model, test.inputs, {});  // (1000, length, vocabulary)
  CHECK(found.loss == Approx(double{cross_entropy(logits, test.targets).item()}).epsilon(1e-6));
  CHECK(found.right > 0);
  CHECK(found.right == double(exact_matches(logits, test.targets)) / 1000);
}

TEST_CASE("four layers learn to sort in 200 steps, with new prompts at each", "[course][phase2]") {
  const SortingRecipe recipe;
  CHECK(recipe.layers == 4);
  CHECK(recipe.steps == 200);
  CHECK(recipe.warmup_steps == 20);
  CHECK(recipe.learning_rate == 1e-2);
  CHECK(recipe.dropout == 0);
  CHECK(recipe.batches == 0);
}
