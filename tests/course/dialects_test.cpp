// Kinds of text with the same words and the same entropy, and what goes on from one to the other.
#include "course/dialects.hpp"

#include <cmath>
#include <set>

#include "catch.hpp"
#include "course/low_rank_change.hpp"
#include "nn/layers.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

const Dialect all_dialects[] = {Dialect::plain, Dialect::backwards, Dialect::exchanged};

Transformer small_model(std::uint64_t seed = 1) { return learn_dialect(Dialect::plain, 0, seed); }

}  // namespace

TEST_CASE("a dialect changes order or nouns, and nothing else", "[phase7][course]") {
  const Words cat = {"an", "owl", "sat", "near", "the", "mat"};
  CHECK(in_dialect(cat, Dialect::plain) == cat);
  CHECK(in_dialect(cat, Dialect::backwards) == Words{"mat", "the", "near", "sat", "owl", "an"});
  CHECK(in_dialect(cat, Dialect::exchanged) == Words{"an", "otter", "sat", "near", "the", "pond"});
  CHECK(in_dialect({}, Dialect::backwards).empty());
  CHECK(in_dialect({"owl"}, Dialect::backwards) == Words{"owl"});
}

TEST_CASE("a dialect done twice is the plain sentence", "[phase7][course]") {
  Random random(3);
  for (const Dialect dialect : all_dialects) {
    int changed = 0;
    for (int i = 0; i < 200; ++i) {
      const Words words = Grammar().sentence(random).words;
      const Words other = in_dialect(words, dialect);
      CHECK(in_dialect(other, dialect) == words);
      CHECK(dialect_vocabulary().encode(other).values.size() == words.size());
      changed += other != words;
    }
    CHECK((dialect == Dialect::plain ? changed == 0 : changed > 150));
  }
}

TEST_CASE("exchanged words are exchanged for words, one to one", "[phase7][course]") {
  std::set<std::string> images;
  int moved = 0;
  for (const std::string& word : Grammar().words()) {
    const std::string image = in_dialect({word}, Dialect::exchanged).front();
    CHECK(dialect_vocabulary().contains(image));
    images.insert(image);
    moved += image != word;
  }
  CHECK(images.size() == Grammar().words().size());
  CHECK(moved == 32);
}

TEST_CASE("a model that reads both texts learns both", "[phase7][course]") {
  const Transformer model = small_model();
  const DialectRun run{.both = true, .steps = 20, .every = 20};
  const Learned both = go_on(model, Dialect::backwards, run);
  DialectRun new_alone = run;
  new_alone.both = false;
  const Learned one = go_on(model, Dialect::backwards, new_alone);
  CHECK(both.points[1].loss_of_old < both.points[0].loss_of_old);
  CHECK(both.points[1].loss_of_old < one.points[1].loss_of_old);
  CHECK(both.points[1].loss_of_new > one.points[1].loss_of_new);
}

TEST_CASE("going on leaves the first model as it is, and fixed numbers fixed", "[phase7][course]") {
  const Transformer model = small_model();
  const Tensor before = model(Indices({3}, {5, 6, 7}));
  const Learned whole = go_on(model, Dialect::backwards, {.steps = 6, .every = 3});
  CHECK(whole.numbers == model.num_parameters());
  CHECK(whole.points.size() == 3);
  CHECK(whole.points[2].step == 6);
  CHECK(whole.points[0].loss_of_new == loss_in(Dialect::backwards, model));
  CHECK(whole.points[2].loss_of_old == loss_in(Dialect::plain, whole.model));
  CHECK(whole.points[2].loss_of_new < whole.points[0].loss_of_new);
  CHECK_FALSE(has_adapters(whole.model));
  const Learned few = go_on(model, Dialect::exchanged, {.rank = 2, .steps = 6, .every = 6});
  CHECK(few.numbers == 2 * 2 * (4 * 128 + 2 * 320));  // two blocks, rank 2, in + out
  CHECK(few.points[1].loss_of_new < few.points[0].loss_of_new);
  for (const Parameter& one : few.model.parameters()) {
    if (one.name == "blocks.1.feed_forward.up.weight") {
      CHECK(same_bits(one.value, model.blocks[1].feed_forward->up.weight));
    }
  }
  const Learned maps =
      go_on(model, Dialect::exchanged, {.maps_only = true, .steps = 6, .every = 6});
  CHECK(maps.numbers == 2 * (4 * 64 * 64 + 2 * 64 * 256));
  CHECK(same_bits(maps.model.token_embedding.weight, model.token_embedding.weight));
  CHECK_FALSE(
      same_bits(maps.model.blocks[0].attention.key.weight, model.blocks[0].attention.key.weight));
  const Learned rest = go_on(model, Dialect::exchanged, {.rest = true, .steps = 6, .every = 6});
  CHECK(rest.numbers == whole.numbers - maps.numbers);
  const Learned beside =
      go_on(model, Dialect::exchanged, {.rank = 2, .rest = true, .steps = 6, .every = 6});
  CHECK(beside.numbers == rest.numbers + few.numbers);
  for (const Transformer* one : {&rest.model, &beside.model}) {
    CHECK_FALSE(same_bits(one->token_embedding.weight, model.token_embedding.weight));
    CHECK(same_bits(one->blocks[0].attention.key.weight, model.blocks[0].attention.key.weight));
  }
  CHECK(same_bits(model(Indices({3}, {5, 6, 7})), before));
}

TEST_CASE("the old loss at an equal new loss is read from the curve", "[phase7][course]") {
  const Learned learned{small_model(), {{0, 4, 1}, {1, 3, 2}, {2, 3.5, 7}, {3, 2, 4}}, 0};
  CHECK(loss_of_old_at(learned, 3.5) == Approx(1.5));
  CHECK(loss_of_old_at(learned, 3) == Approx(2));
  CHECK(loss_of_old_at(learned, 2.75) == Approx(5.5));
  CHECK(std::isnan(loss_of_old_at(learned, 1.9)));
}

TEST_CASE("shares of singular values are those of a change that is known", "[phase7][course]") {
  const Transformer before = small_model();
  Transformer after = before;
  Random random(5);
  add_adapters(after, {.rank = 3, .maps = {"query", "key", "value", "output", "up", "down"}},
               random);
  scatter(adapter_parameters(after), random);
  merge_adapters(after);
  CHECK(share_of_change(before, after, 0) == 0);
  CHECK(share_of_change(before, after, 1) > 0.3);
  CHECK(share_of_change(before, after, 1) < 0.9);
  CHECK(share_of_change(before, after, 2) > share_of_change(before, after, 1));
  CHECK(share_of_change(before, after, 3) == Approx(1).margin(1e-6));
  const Indices ids({3}, {5, 6, 7});
  CHECK(difference_to(with_rank(before, after, 3)(ids), after(ids), 100 * nearly) == "");
  CHECK(same_bits(with_rank(before, after, 0)(ids), before(ids)));
  CHECK(share_of_random(before, 64) == Approx(1).margin(1e-6));
  CHECK(share_of_random(before, 8) < 0.45);
}
