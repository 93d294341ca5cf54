// The measures, the tables and the picture of step 52.
#include "course/head_distances.hpp"

#include <algorithm>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "printed_by.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

const Looks near = {Tensor({2}, {1, 3}), Tensor({2}, {0.5, 0.75}), Tensor({2}, {0.25, 0.5})};
const Looks far = {Tensor({2}, {6, 6}), Tensor({2}, {1.25, 1}), Tensor({2}, {0.75, 1})};

Transformer small_model(bool causal) {
  Random random(3);
  return Transformer({.vocab_size = 9,
                      .max_length = 6,
                      .d_model = 8,
                      .num_heads = 2,
                      .has_feed_forward = false,
                      .is_causal = causal,
                      .initializer = init::lecun_normal},
                     random);
}

const Batch two_texts = {
    Indices({2, 3}, {5, 6, 7, 8, 5, 6}), Indices({2, 3}, {6, -1, 5, 7, 7, 8}), {}};  // (2, 3)

}  // namespace

TEST_CASE("how far heads look, in words, and beside uniform attention", "[phase5][course]") {
  // Two heads of one text: one looks at the first word only, the other at all that it sees alike.
  const Tensor weights({1, 2, 2, 2}, {1, 0, 1, 0, 1, 0, 0.5, 0.5});  // (1, heads, 2, 2)
  const Looks looks = look(weights, Mask::causal());
  // The first row sees one word, and does not count.
  CHECK(looks.distance.values() == std::vector<real>{1, 0.5});
  CHECK(looks.share.values() == std::vector<real>{2, 1});
  CHECK(looks.entropy.values() == std::vector<real>{0, 1});
  CHECK(look(weights, {}).distance.values() == std::vector<real>{0.5, 0.25});
}

TEST_CASE("a model's layers are looked at under its own mask", "[phase5][course]") {
  for (const bool causal : {false, true}) {
    Transformer model = small_model(causal);
    for (TransformerBlock& block : model.blocks) {
      Tensor& query = block.attention.query.weight;
      query = query * 0;  // all scores are 0 and weights uniform
    }
    const std::vector<Looks> looks = look(model, two_texts.inputs);
    REQUIRE(looks.size() == 2);
    for (const Looks& layer : looks) {
      REQUIRE(layer.share.shape() == Shape{2});
      for (Index head = 0; head < 2; ++head) {
        CHECK(same_number(double{layer.share.at({head})}, 1, 1e-5));
        CHECK(same_number(double{layer.entropy.at({head})}, 1, 1e-5));
      }
    }
    // Then it makes no difference to make a layer uniform, but it does to cut it.
    const double own = loss_on(model, two_texts);
    CHECK(same_number(loss_with_uniform(model, two_texts, 0), own, 1e-5));
    CHECK(!same_number(loss_without(model, two_texts, 0), own, 1e-3));
  }
}

TEST_CASE("a layer is made uniform, or cut, as if its weights were others", "[phase5][course]") {
  for (const bool causal : {false, true}) {
    const Transformer model = small_model(causal);
    Transformer even = small_model(causal), silent = small_model(causal);
    Tensor &query = even.blocks[1].attention.query.weight,
           &output = silent.blocks[1].attention.output.weight;
    query = query * 0;
    output = output * 0;
    const Tensor logits = model(two_texts.inputs);  // (2, 3, 9)
    const double own{cross_entropy(logits, two_texts.targets).item()};
    CHECK(same_number(loss_on(model, two_texts), own, 1e-6));
    CHECK(same_number(loss_with_uniform(model, two_texts, 1), loss_on(even, two_texts), 1e-5));
    CHECK(same_number(loss_without(model, two_texts, 1), loss_on(silent, two_texts), 1e-5));
    CHECK(!same_number(loss_with_uniform(model, two_texts, 1), own, 1e-3));
    CHECK(!same_number(loss_with_uniform(model, two_texts, 0), loss_on(even, two_texts), 1e-3));
  }
}

TEST_CASE("heads of another model stand behind those of the first", "[phase5][course]") {
  Looks both;
  both.add(near);
  both.add(far);
  CHECK(both.distance.values() == std::vector<real>{1, 3, 6, 6});
  CHECK(both.share.values() == std::vector<real>{0.5, 0.75, 1.25, 1});
  CHECK(both.entropy.values() == std::vector<real>{0.25, 0.5, 0.75, 1});
}

TEST_CASE("a row tells how far heads look, beside what that is compared with", "[phase5][course]") {
  CHECK(stdout_of([] { print_looks("copy", 1, near, far); }) ==
        "copy       1   2.00 +- 1.41       3.20      6.00          0.62       0.38\n");
  CHECK(stdout_of([] { print_controls("copy", {{{0.5, -0.001}, {1}}, {{-0.25, 0}, {2}}}); }) ==
        "copy     layer 0   uniform   0.50  0.00   cut   1.00\n"
        "copy     layer 1   uniform  -0.25  0.00   cut   2.00\n");
}

TEST_CASE("each head is a dot, in the colour of its layer", "[phase5][course]") {
  const plot::Canvas canvas = dots_of_heads({{"left", {near, far}}, {"right", {far}}});
  CHECK(plot::words(canvas, plot::Role::title) == plot::Names{"left", "right"});
  const plot::Names legend = plot::words(canvas, plot::Role::legend);
  CHECK(std::count(legend.begin(), legend.end(), "layer 0") == 2);
  CHECK(std::count(legend.begin(), legend.end(), "layer 1") == 1);
  CHECK(plot::trouble(canvas) == "");
  CHECK_THROWS_AS(dots_of_heads({}), Error);
  CHECK_THROWS_AS(dots_of_heads({{"none", {}}}), Error);
  plot::check_snapshot("dots_of_heads", 0xAF3F08E9FC000A32u, canvas);
}
