// The translator made of LSTMs, in all its forms.
#include "course/lstm_translator.hpp"

#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "course/trained_by_hand.hpp"
#include "ops/expect.hpp"

using namespace tapestry;

namespace {

const TranslationTask& task() {
  static const TranslationTask one({2, 3});
  return one;
}

LstmTranslator model_with(LstmTranslatorOptions options, Index hidden = 8) {
  options.hidden = hidden;
  Random random(3);
  return LstmTranslator(options, task(), random);
}

// A short sentence and a longer one.
TranslationBatch two_sentences() {
  return task().batch({translate({"cats", "see", "dogs"}),
                       translate({"small", "cats", "near", "dogs", "chase", "black", "birds"})});
}

TranslationBatch alone(const Words& source) { return task().batch({translate(source)}); }

std::vector<std::string> names_of(const Module& model) {
  std::vector<std::string> names;
  for (const Parameter& p : model.parameters()) {
    const std::string name = p.name.substr(0, p.name.find('.'));
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

// The forms that step 68 and its experiments train.
std::vector<LstmTranslatorOptions> forms() {
  return {{},
          {.visibility = Visibility::nothing},
          {.visibility = Visibility::last_state},
          {.is_additive = true},
          {.both_directions = true},
          {.words_only = true},
          {.is_additive = true, .both_directions = true, .words_only = true}};
}

}  // namespace

TEST_CASE("weights of a translator are 0 on padding and add up to 1", "[phase6][course]") {
  const TranslationBatch b = two_sentences();
  for (const LstmTranslatorOptions& form : forms()) {
    const LstmTranslator::Output said = model_with(form)(b);
    const bool all = form.visibility == Visibility::all_states;
    CHECK(said.logits.shape() == Shape{2, 8, task().target_words().size()});
    REQUIRE(said.weights.shape() == Shape{2, 8, all ? 7 : 1});
    CHECK(difference_to(sum(said.weights, -1), Tensor::ones({2, 8}), 1e-5) == "");
    if (all) CHECK(sum(slice(slice(said.weights, 0, 0, 1), 2, 3, 7)).item() == 0);
  }
}

TEST_CASE("a sentence is translated alone as in a batch with longer ones", "[phase6][course]") {
  const TranslationBatch b = two_sentences(), shorter = alone({"cats", "see", "dogs"});
  for (const LstmTranslatorOptions& form : forms()) {
    const LstmTranslator model = model_with(form);
    const Tensor together = slice(slice(model(b).logits, 0, 0, 1), 1, 0, 4);  // (1, 4, words)
    CHECK(difference_to(model(shorter).logits, together, 1e-4) == "");
  }
}

TEST_CASE("what a translator sees of the source is what its visibility says", "[phase6][course]") {
  const TranslationBatch one = alone({"cats", "see", "dogs"});
  TranslationBatch other = alone({"mice", "see", "dogs"});
  other.target = one.target;  // the same words so far
  for (const LstmTranslatorOptions& form : forms()) {
    const LstmTranslator model = model_with(form);
    const double moved = largest_difference(model(one).logits, model(other).logits);
    CHECK((form.visibility == Visibility::nothing ? moved == 0 : moved > 1e-5));
  }
}

TEST_CASE("parameters are those that a form of the translator uses", "[phase6][course]") {
  using Names = std::vector<std::string>;
  CHECK(names_of(model_with({})) ==
        Names{"source", "target", "encoder", "decoder", "ask", "join", "out"});
  CHECK(names_of(model_with({.visibility = Visibility::last_state})) ==
        Names{"source", "target", "encoder", "decoder", "join", "out"});
  CHECK(names_of(model_with({.is_additive = true})) ==
        Names{"source", "target", "encoder", "decoder", "ask", "key", "score", "join", "out"});
  CHECK(names_of(model_with({.both_directions = true})) ==
        Names{"source", "target", "encoder", "from_the_right", "decoder", "ask", "join", "out"});
  const LstmTranslator model = model_with({});
  CHECK(model.source_words.weight.size(1) == 32);
  CHECK(!model.ask.bias.defined());
  CHECK(!model.key.bias.defined());
  CHECK(!model.score.bias.defined());
  CHECK(LstmTranslatorOptions{}.hidden == 48);
}

TEST_CASE("scores of a translator are products, or additive", "[phase6][course]") {
  const Tensor s = random_tensor({2, 3, 8}, 1), h = random_tensor({2, 5, 8}, 2);
  for (const bool additive : {false, true}) {
    const LstmTranslator model = model_with({.is_additive = additive});
    const auto mapped = [](const Linear& map, const Tensor& x, Index b, Index i, Index to) {
      double sum = 0;
      for (Index k = 0; k < 8; ++k) sum += element(x, {b, i, k}) * element(map.weight, {k, to});
      return sum;
    };
    const std::vector<double> expected = tabulate({2, 3, 5}, [&](const Place& at) {
      double score = 0;
      for (Index k = 0; k < 8; ++k) {
        const double asked = mapped(model.ask, s, at[0], at[1], k);
        score += additive ? element(model.score.weight, {k, 0}) *
                                std::tanh(asked + mapped(model.key, h, at[0], at[2], k))
                          : asked * element(h, {at[0], at[2], k});
      }
      return score;
    });
    CHECK(difference(model.scores(s, h), {2, 3, 5}, expected, 1e-5) == "");
  }
}

TEST_CASE("half of a state reads from the right: the sentence turned round", "[phase6][course]") {
  const LstmTranslator model = model_with({.both_directions = true});
  const TranslationBatch b = two_sentences();
  const Lstm::Output read = model.read(b);
  REQUIRE(read.outputs.shape() == Shape{2, 7, 8});
  for (Index row = 0; row < 2; ++row) {
    const Index words = b.source_lengths[static_cast<std::size_t>(row)];
    const auto begin = b.source.values.begin() + 7 * row;
    std::vector<std::int32_t> ids(begin, begin + words);
    const Tensor forth = model.encoder(model.source_words(Indices({1, words}, ids))).outputs;
    std::reverse(ids.begin(), ids.end());
    // (1, words, 4) each
    const Tensor back = model.from_the_right(model.source_words(Indices({1, words}, ids))).outputs;
    for (Index i = 0; i < words; ++i) {
      for (Index k = 0; k < 4; ++k) {
        CHECK(same_number(element(read.outputs, {row, i, k}), element(forth, {0, i, k}), 1e-5));
        CHECK(same_number(element(read.outputs, {row, i, 4 + k}),
                          element(back, {0, words - 1 - i, k}), 1e-5));
      }
    }
    for (Index k = 0; k < 4; ++k) {
      CHECK(same_number(element(read.last.h, {row, k}), element(forth, {0, words - 1, k}), 1e-5));
      CHECK(
          same_number(element(read.last.h, {row, 4 + k}), element(back, {0, words - 1, k}), 1e-5));
    }
  }
}

TEST_CASE("attention brings states beside the decoder's, or the words alone", "[phase6][course]") {
  const TranslationBatch b = two_sentences();
  for (const bool words_only : {false, true}) {
    const LstmTranslator model = model_with({.words_only = words_only});
    const LstmTranslator::Output said = model(b);
    const Lstm::Output read = model.read(b);
    const Tensor things = words_only ? model.source_words(b.source) : read.outputs;
    // (2, 8, 8), (2, 8, 8 or 32)
    const Tensor states = model.decoder(model.target_words(b.target.inputs), {}, read.last).outputs;
    const Tensor brought = matmul(said.weights, things);
    const Tensor joined = words_only ? brought : concat({states, brought}, -1);
    CHECK(difference_to(said.logits, model.out(tanh(model.join(joined))), 1e-5) == "");
  }
}

TEST_CASE("step 68 trains on 32 sentences at a time, with a rate that rises and falls",
          "[phase6][course]") {
  constexpr Index steps = 22;
  const LstmTranslatorOptions options{.hidden = 4};
  Random random(5);
  const LstmTranslator by_hand(options, task(), random);
  train_by_hand(by_hand, {1e-2, 2e-4, 20, steps}, [&](Index step) {
    Random drawn(5, static_cast<std::uint64_t>(step));
    const TranslationBatch b = task().batch(Part::train, 32, drawn);
    return cross_entropy(by_hand(b).logits, b.target.targets);  // logits (32, target, words)
  });
  CHECK(distance_between(learn(options, task(), 5, steps), by_hand) < 1e-6);
}
