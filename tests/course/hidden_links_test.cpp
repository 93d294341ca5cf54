// One word of each sentence hidden, and what a model says without its link.
#include "course/hidden_links.hpp"

#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "course/grammar.hpp"
#include "ops/expect.hpp"
#include "tapestry/accuracy.hpp"
#include "tapestry/capture.hpp"

using namespace tapestry;

namespace {

const Vocabulary& vocabulary() {
  static const Vocabulary words(Grammar().words());
  return words;
}

const HiddenLink object{"an object", true, 5, 2}, place{"a place", false, 5, 3};

// One layer of four heads. Only these heads have an output that is not 0.
Transformer model_with(const CutIn& working) {
  Random random(3);
  Transformer model({.vocab_size = vocabulary().size(),
                     .max_length = 6,
                     .d_model = 16,
                     .num_layers = 1,
                     .has_feed_forward = false,
                     .is_causal = false,
                     .initializer = init::lecun_normal},
                    random);
  Tensor& output = model.blocks[0].attention.output.weight;  // (16, 16), four rows for each head
  Tensor rows = Tensor::ones({16, 1});                       // (16, 1)
  for (Index row = 0; row < 16; ++row) {
    if (!working[static_cast<std::size_t>(row / 4)]) rows.set({row, 0}, 0);
  }
  output = output * rows;  // (16, 16)
  return model;
}

const CutIn all = {true, true, true, true}, none = {};

// The first rows of a batch.
Batch start_of(const Batch& whole, Index rows) {
  const auto first = [&](const Indices& ids) {
    return Indices({rows, 6},
                   std::vector<std::int32_t>(ids.values.begin(), ids.values.begin() + rows * 6));
  };
  return {first(whole.inputs), first(whole.targets),
          std::vector<Index>(static_cast<std::size_t>(rows), 6)};
}

double loss_of(const Transformer& model, const Batch& batch, const Mask& mask = {}) {
  return double{cross_entropy(model(batch.inputs, mask), batch.targets).item()};
}

}  // namespace

TEST_CASE("sentences of one form, the same ones at each call", "[phase1][course]") {
  for (const bool has_object : {false, true}) {
    const std::vector<Words> few = sentences_of_form(has_object, 3),
                             more = sentences_of_form(has_object, 20);
    REQUIRE(few.size() == 3);
    REQUIRE(more.size() == 20);
    CHECK(std::equal(few.begin(), few.end(), more.begin()));
    // In form 1 the fourth word is a preposition, in form 2 a determiner.
    for (const Words& text : more) {
      const bool is_determiner = text[3] == "the" || text[3] == "this" || text[3] == "a" ||
                                 text[3] == "an" || text[3] == "every";
      CHECK(is_determiner == has_object);
    }
  }
}

TEST_CASE("2000 sentences of one form have one word hidden", "[phase2][course]") {
  for (const HiddenLink& link : {object, place}) {
    const Batch batch = hide_word(vocabulary(), link);
    REQUIRE(batch.inputs.shape == Shape{2000, 6});
    REQUIRE(batch.targets.shape == Shape{2000, 6});
    CHECK(batch.lengths == std::vector<Index>(2000, 6));
    Random random(123);
    for (std::size_t row = 0; row < 2000;) {
      const Sentence sentence = Grammar().sentence(random);
      const bool has_object =
          std::any_of(sentence.links.begin(), sentence.links.end(),
                      [](const Link& one) { return one.role == Role::verb_object; });
      if (has_object != link.has_object) continue;
      for (std::size_t i = 0; i < 6; ++i) {
        const std::int32_t id = vocabulary().id(sentence.words[i]);
        const bool hidden = static_cast<Index>(i) == link.hidden;
        REQUIRE(batch.inputs.values[6 * row + i] == (hidden ? Vocabulary::mask : id));
        REQUIRE(batch.targets.values[6 * row + i] == (hidden ? id : -1));
      }
      ++row;
    }
  }
}

TEST_CASE("each sentence is followed by one of the other form", "[phase2][course]") {
  const Batch form = hide_word(vocabulary(), object), other = hide_word(vocabulary(), place);
  const Batch both = with_other_form(form, other);
  REQUIRE(both.inputs.shape == Shape{4000, 6});
  REQUIRE(both.targets.shape == Shape{4000, 6});
  CHECK(both.lengths == std::vector<Index>(4000, 6));
  for (std::size_t row = 0; row < 2000; ++row) {
    for (std::size_t i = 0; i < 6; ++i) {
      const std::size_t at = 6 * row + i, own = 12 * row + i, next = own + 6;
      REQUIRE(both.inputs.values[own] == form.inputs.values[at]);
      REQUIRE(both.targets.values[own] == form.targets.values[at]);
      REQUIRE(both.inputs.values[next] == other.inputs.values[at]);
      REQUIRE(both.targets.values[next] == -1);
    }
  }
}

TEST_CASE("a link is cut in the heads that are named, and there alone", "[phase2][course]") {
  const Batch batch = start_of(hide_word(vocabulary(), object), 40);
  Tensor keep = Tensor::ones({6, 6});  // (6, 6)
  keep.set({5, 2}, 0);
  const Mask cut = Mask::from(MaskEncoding::keep, keep);
  const Transformer model = model_with(all);
  CHECK(loss_without_link(model, batch, object, none) == Approx(loss_of(model, batch)));
  CHECK(loss_without_link(model, batch, object, all) == Approx(loss_of(model, batch, cut)));
  CHECK(std::abs(loss_of(model, batch) - loss_of(model, batch, cut)) > 1e-3);
  for (std::size_t h = 0; h < 4; ++h) {
    CutIn one{};
    one[h] = true;
    // With this head alone, its link is all there is to cut; without it, there is nothing.
    const Transformer alone = model_with(one);
    CHECK(loss_without_link(alone, batch, object, one) == Approx(loss_of(alone, batch, cut)));
    CutIn others = all;
    others[h] = false;
    CHECK(loss_without_link(alone, batch, object, others) == Approx(loss_of(alone, batch)));
    CHECK(std::abs(loss_of(alone, batch) - loss_of(alone, batch, cut)) > 1e-4);
  }
}

TEST_CASE("a word is swapped for the heads that are named, and there alone", "[phase2][course]") {
  const Batch batch = start_of(hide_word(vocabulary(), object), 40);
  Batch next = batch;  // each row has the linked word of the row behind it
  for (std::size_t row = 0; row < 40; ++row) {
    next.inputs.values[6 * row + 2] = batch.inputs.values[6 * ((row + 1) % 40) + 2];
  }
  const Transformer model = model_with(all);
  CHECK(loss_with_swap(model, batch, object, none) == Approx(loss_of(model, batch)));
  CHECK(loss_with_swap(model, batch, object, all) == Approx(loss_of(model, next)));
  CHECK(std::abs(loss_of(model, batch) - loss_of(model, next)) > 1e-3);
  for (std::size_t h = 0; h < 4; ++h) {
    CutIn one{};
    one[h] = true;
    const Transformer alone = model_with(one);
    CHECK(loss_with_swap(alone, batch, object, one) == Approx(loss_of(alone, next)));
    CutIn others = all;
    others[h] = false;
    CHECK(loss_with_swap(alone, batch, object, others) == Approx(loss_of(alone, batch)));
    CHECK(std::abs(loss_of(alone, batch) - loss_of(alone, next)) > 1e-4);
  }
}

TEST_CASE("heads are cut by zeros or by their mean", "[phase2][course]") {
  const Batch batch = start_of(hide_word(vocabulary(), place), 40);
  const Transformer model = model_with(all);
  const CutIn two = {false, true, false, true};
  CHECK(loss_without_heads(model, batch, none, Replacement::zero) == Approx(loss_of(model, batch)));
  CHECK(loss_without_heads(model, batch, two, Replacement::zero) ==
        Approx(loss_of(model_with({true, false, true, false}), batch)));
  const double by_mean = loss_without_heads(model, batch, two, Replacement::mean);
  const Said said = said_without(model, batch, {{0, 1}, {0, 3}}, Replacement::mean);
  CHECK(by_mean == Approx(-said.log_probability));
  CHECK(std::abs(by_mean - loss_without_heads(model, batch, two, Replacement::zero)) > 1e-4);
}

TEST_CASE("the weight on a link is the mean of all sentences", "[phase2][course]") {
  const Batch batch = start_of(hide_word(vocabulary(), object), 40);
  const Transformer model = model_with(all);
  std::vector<double> expected(4);
  {
    const Capture seen;
    model(batch.inputs, {}, {.need_weights = true});            // (40, 6, vocabulary)
    const Tensor weights = seen["blocks.0.attention.weights"];  // (40, 4, 6, 6)
    for (Index row = 0; row < 40; ++row) {
      for (Index h = 0; h < 4; ++h) {
        expected[static_cast<std::size_t>(h)] += double{weights.at({row, h, 5, 2})} / 40;
      }
    }
  }
  const std::vector<double> found = weights_on_link(model, batch, object);
  REQUIRE(found.size() == 4);
  for (std::size_t h = 0; h < 4; ++h) CHECK(found[h] == Approx(expected[h]));
}
