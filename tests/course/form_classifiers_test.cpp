// The classifiers of steps 67 and 6j: their layers, and how they learn.
#include "course/form_classifiers.hpp"

#include "catch.hpp"
#include "course/trained_by_hand.hpp"
#include "ops/expect.hpp"
#include "printed_by.hpp"

using namespace tapestry;
using namespace tapestry::form_classifiers;

namespace {

std::vector<std::string> first_names(const Module& model) {
  std::vector<std::string> names;
  for (const Parameter& p : model.parameters()) {
    const std::string name = p.name.substr(0, p.name.find('.'));
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

// Each sentence is one word, its form.
struct ByOneWord : Layers {
  ByOneWord(bool has_feed_forward, Index vocabulary, Random& random)
      : Layers(false, has_feed_forward, vocabulary, random) {}

  Tensor operator()(const Indices& ids, const std::vector<Index>&) const {
    const Tensor x = words(ids);                               // (rows, 1, width)
    return out(mean(feeds_forward ? feed_forward(x) : x, 1));  // (rows, forms)
  }
};

FormBatch draw(Random& random) {
  FormBatch batch;
  batch.ids.shape = {8, 1};
  batch.forms.shape = {8};
  for (int row = 0; row < 8; ++row) {
    const auto form = static_cast<std::int32_t>(random.randint(sentence_forms));
    batch.ids.values.push_back(form);
    batch.forms.values.push_back(form);
    batch.lengths.push_back(1);
  }
  return batch;
}

}  // namespace

TEST_CASE("a classifier learns the layers that it uses", "[phase6][course]") {
  using Names = std::vector<std::string>;
  Random random(1);
  CHECK(first_names(Layers(false, false, 9, random)) == Names{"words", "out"});
  CHECK(first_names(Layers(true, false, 9, random)) == Names{"words", "attention", "out"});
  CHECK(first_names(Layers(false, true, 9, random)) == Names{"words", "feed_forward", "out"});
  CHECK(first_names(Layers(true, true, 9, random)) ==
        Names{"words", "attention", "feed_forward", "out"});
  CHECK(Layers(true, true, 9, random).words.weight.shape() == Shape{9, 32});
  CHECK(Layers(true, true, 9, random).out.weight.shape() == Shape{32, 5});
}

TEST_CASE("step 67 trains for 300 steps with a rate that rises and falls, from five seeds",
          "[phase6][course]") {
  std::vector<Learned<ByOneWord>> learned;
  const std::string told = stderr_of([&] {
    learned = learn_all<ByOneWord>(
        std::vector<std::pair<std::string, bool>>{{"plain", false}, {"deep", true}}, 5, draw);
  });
  CHECK(told.find("10/10 models") != std::string::npos);
  REQUIRE(learned.size() == 2);
  CHECK(learned[0].name == "plain");
  CHECK(learned[1].name == "deep");
  CHECK(!learned[0].models.at(4).feeds_forward);
  REQUIRE(learned[1].models.size() == 5);
  for (const std::uint64_t seed : {1, 5}) {
    Random random(seed);
    const ByOneWord by_hand(true, 5, random);
    train_by_hand(by_hand, {1e-2, 1e-4, 20, 300}, [&](Index step) {
      Random drawn(seed, static_cast<std::uint64_t>(step));
      const FormBatch b = draw(drawn);                           // ids (8, 1)
      return cross_entropy(by_hand(b.ids, b.lengths), b.forms);  // logits (8, forms)
    });
    CHECK(distance_between(learned[1].models[seed - 1], by_hand) < 1e-5);
  }
  Random random(2);
  FormBatch test = draw(random);  // ids (8, 1)
  CHECK(told_right(learned, test) == NamedShares{{"plain", Shares(5, 1)}, {"deep", Shares(5, 1)}});
  for (std::size_t row = 0; row < 2; ++row) test.forms.values[row] = (test.ids.values[row] + 1) % 5;
  CHECK(told_right(learned, test) ==
        NamedShares{{"plain", Shares(5, 0.75)}, {"deep", Shares(5, 0.75)}});
}
