// The translator made of attention, and what it says without some heads.
#include "course/encoder_decoder.hpp"

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

EncoderDecoder fresh() {
  Random random(3);
  return EncoderDecoder(task(), random);
}

TranslationBatch held_out(Index rows) {
  Random random(7);
  return task().batch(Part::held_out, rows, random);
}

bool is_verb(const std::string& word) {
  for (const char* stem : {"kac", "ved", "od", "seg"}) {
    const std::string start(stem);
    if (word == start + "in" || word == start + "en") return true;
  }
  return false;
}

// Adds a number to the logit of each word that is none of these.
template <class Wanted>
EncoderDecoder biased(Wanted wanted) {
  EncoderDecoder model = fresh();
  for (std::int32_t id = 0; id < task().target_words().size(); ++id) {
    if (!wanted(task().target_words().word(id))) model.out.bias.set({id}, -1000);
  }
  return model;
}

}  // namespace

TEST_CASE("the translator is the sum of its parts", "[phase6][course]") {
  const EncoderDecoder model = fresh();
  const TranslationBatch b = held_out(5);
  const Index source = b.source.shape[1], target = b.target.inputs.shape[1];
  // Position p turns by one radian a word in its first two numbers, slower in the others.
  const auto places = [](Index length) {
    Tensor all = Tensor::zeros({length, 48});  // (length, 48)
    for (Index p = 0; p < length; ++p) {
      for (Index i = 0; i < 48; ++i) {
        const double angle = double(p) / std::pow(1e4, double(i / 2 * 2) / 48);
        all.set({p, i}, i % 2 == 0 ? std::sin(angle) : std::cos(angle));
      }
    }
    return all;
  };
  const Mask real = Mask::padding(b.source_lengths);
  const Tensor encoded = model.encoded_norm(
      model.encoder(model.source_words(b.source) + places(source), real));      // (5, source, 48)
  Tensor y = model.said(model.target_words(b.target.inputs) + places(target));  // (5, target, 48)
  y = y + model.cross.cross_attend(model.cross_norm(y), encoded, real);         // (5, target, 48)
  y = y + model.feed_forward(model.feed_forward_norm(y));                       // (5, target, 48)
  CHECK(difference_to(model(b), model.out(model.last_norm(y)), 1e-4) == "");
}

TEST_CASE("the translator reads what was said so far, and the source without padding",
          "[phase6][course]") {
  const EncoderDecoder model = fresh();
  const Translation shorter = translate({"cats", "see", "dogs"}),
                    longer = translate({"cats", "near", "mice", "chase", "small", "dogs"});
  const TranslationBatch both = task().batch({shorter, longer}), one = task().batch({shorter});
  const Tensor together = model(both);  // (2, 7, words)
  CHECK(difference_to(slice(slice(together, 0, 0, 1), 1, 0, 4), model(one), 1e-4) == "");
  TranslationBatch changed = both;
  changed.target.inputs.values[7 + 4] = task().target_words().id("soto");
  const Tensor after = model(changed);  // (2, 7, words)
  CHECK(largest_difference(slice(together, 1, 0, 4), slice(after, 1, 0, 4)) == 0);
  CHECK(largest_difference(slice(together, 1, 4, 5), slice(after, 1, 4, 5)) > 1e-3);
}

TEST_CASE("the translator has four heads, 48 numbers a word, and names for a capture",
          "[phase6][course]") {
  const EncoderDecoder model = fresh();
  const TranslationBatch b = held_out(2);
  const Index source = b.source.shape[1], target = b.target.inputs.shape[1];
  Capture capture;
  model(b, stored);  // (2, target, words)
  CHECK(capture["source.attention.weights"].shape() == Shape{2, 4, source, source});
  CHECK(capture["target.attention.weights"].shape() == Shape{2, 4, target, target});
  CHECK(capture["cross.weights"].shape() == Shape{2, 4, target, source});
  CHECK(model.said.feed_forward.has_value() == false);
  CHECK(model.source_words.weight.size(1) == 48);
  CHECK(model.parameters().front().name == "source_words.weight");
}

TEST_CASE("a verb is said before <eos>, once in a sentence", "[phase6][course]") {
  const TranslationBatch b = held_out(20);
  const Tensor says = says_verb(b);  // (20, target)
  REQUIRE(says.shape() == b.target.targets.shape);
  CHECK(sum(says).item() == 20);
  for (std::size_t at = 0; at < b.target.targets.values.size(); ++at) {
    if (says.data()[at] == 0) continue;
    CHECK(is_verb(task().target_words().word(b.target.targets.values[at])));
    CHECK(b.target.targets.values[at + 1] == Vocabulary::eos);
  }
}

TEST_CASE("a set of heads is told by their numbers", "[phase6][course]") {
  CHECK(head_numbers(0) == "none");
  CHECK(head_numbers(1) == "0");
  CHECK(head_numbers(6) == "1 2");
  CHECK(head_numbers(15) == "0 1 2 3");
}

TEST_CASE("what is ablated is 0, and the source then says nothing", "[phase6][course]") {
  const EncoderDecoder model = fresh();
  const TranslationBatch b = task().batch({translate({"cats", "see", "dogs"})});
  TranslationBatch other = task().batch({translate({"mice", "hear", "bees"})});
  other.target = b.target;
  CHECK(largest_difference(model(b), model(other)) > 1e-3);
  Capture capture;
  ablate(capture, {"cross.output", "target.attention.output"});
  const Tensor without = model(b);  // (1, 4, words)
  CHECK(sum(abs(capture["cross.output"])).item() == 0);
  CHECK(sum(abs(capture["target.attention.output"])).item() == 0);
  CHECK(largest_difference(without, model(other)) == 0);
}

TEST_CASE("a verb has a stem and an ending: who always says kacin", "[phase6][course]") {
  const EncoderDecoder parrot = biased([](const std::string& word) { return word == "kacin"; });
  const TranslationBatch b = held_out(60);
  double stem = 0, ending = 0;
  for (std::size_t row = 0; row < 60; ++row) {
    const auto length = static_cast<std::size_t>(b.target.inputs.shape[1]);
    std::string verb;  // the last word before <eos>
    for (std::size_t i = 0; i < length; ++i) {
      const std::int32_t id = b.target.targets.values[row * length + i];
      if (id >= 0 && id != Vocabulary::eos) verb = task().target_words().word(id);
    }
    stem += verb == "kacin" || verb == "kacen";
    ending += verb.ends_with("in");
  }
  CHECK(stem > 5);
  CHECK(ending > stem);
  const Verb right = verb_without(parrot, task(), b, 0);
  CHECK(right.any == 1);
  CHECK(right.stem == Approx(stem / 60));
  CHECK(right.ending == Approx(ending / 60));
}

TEST_CASE("a word that is no verb has no right ending: who always says visin", "[phase6][course]") {
  for (std::int32_t id = 0; id < task().target_words().size(); ++id) {
    const std::string word = task().target_words().word(id);
    CAPTURE(word);
    CHECK(is_verb_form(word) == is_verb(word));
  }
  for (const char* only : {"visin", "ape", "<eos>"}) {
    const EncoderDecoder parrot = biased([&](const std::string& word) { return word == only; });
    const Verb right = verb_without(parrot, task(), held_out(60), 0);
    CHECK(right.any == 0);
    CHECK(right.stem == 0);
    CHECK(right.ending == 0);
  }
}

TEST_CASE("a verb without heads: those of the bits, in the cross-attention", "[phase6][course]") {
  EncoderDecoder model = biased(is_verb);
  model.cross.output.weight = model.cross.output.weight * 8;  // (48, 48)
  const TranslationBatch b = held_out(60);
  const Verb whole = verb_without(model, task(), b, 0);
  for (unsigned heads = 1; heads < 16; ++heads) {
    EncoderDecoder cut = model;
    Tensor rows = Tensor::ones({48, 1});  // (48, 1): 12 rows for each head
    for (Index row = 0; row < 48; ++row) {
      if (heads >> (row / 12) & 1U) rows.set({row, 0}, 0);
    }
    cut.cross.output.weight = model.cross.output.weight * rows;  // (48, 48)
    const Verb expected = verb_without(cut, task(), b, 0);
    const Verb found = verb_without(model, task(), b, heads);
    CHECK(found.stem == Approx(expected.stem));
    CHECK(found.ending == Approx(expected.ending));
    CHECK((expected.stem != whole.stem || expected.ending != whole.ending));
  }
  const Verb blind = verb_without(model, task(), b, 15),
             ablated = verb_without(model, task(), b, 0, {"cross.output"});
  CHECK(blind.stem == Approx(ablated.stem));
  CHECK(blind.ending == Approx(ablated.ending));
}

TEST_CASE("step 69 trains on 32 sentences at a time, with a rate that rises and falls",
          "[phase6][course]") {
  constexpr Index steps = 52;
  const TranslationTask small({2, 2});
  Random random(5);
  const EncoderDecoder by_hand(small, random);
  train_by_hand(by_hand, {5e-3, 1e-4, 50, steps}, [&](Index step) {
    Random drawn(5, static_cast<std::uint64_t>(step));
    const TranslationBatch b = small.batch(Part::train, 32, drawn);
    Capture capture;
    capture.replace("cross.output", [](const Tensor& x) { return x * 0; });
    return cross_entropy(by_hand(b, stored), b.target.targets);  // logits (32, target, words)
  });
  CHECK(distance_between(learn({"cross.output"}, small, 5, steps), by_hand) < 1e-6);
}

TEST_CASE("ablated to the mean, every verb gets what the verbs get on average",
          "[phase6][course]") {
  EncoderDecoder model = biased(is_verb);
  model.cross.output.weight = model.cross.output.weight * 8;  // (48, 48)
  const TranslationBatch b = held_out(60);
  // By hand: the mean of a head's output at the verbs goes through W_O into the bias.
  Tensor mean_of = Tensor::zeros({48});  // (48)
  {
    const Capture seen;
    model(b, stored);
    const Tensor heads = concat_heads(seen["cross.heads"]);  // (60, target, 48)
    for (Index row = 0; row < 60; ++row) {
      Index verb = 0;  // its target is the last word, the next one <eos>
      while (b.target.targets
                 .values[static_cast<std::size_t>(row * b.target.inputs.shape[1] + verb + 1)] !=
             Vocabulary::eos) {
        ++verb;
      }
      for (Index i = 0; i < 48; ++i) {
        mean_of.set({i}, double{mean_of.at({i})} + double{heads.at({row, verb, i})} / 60);
      }
    }
  }
  for (const unsigned heads : {1U, 6U, 15U}) {
    EncoderDecoder cut = model;
    Tensor rows = Tensor::ones({48, 1});  // (48, 1): 12 rows for each head
    for (Index row = 0; row < 48; ++row) {
      if (heads >> (row / 12) & 1U) rows.set({row, 0}, 0);
    }
    const Tensor usual = reshape(mean_of, {1, 48}) * transpose(1 - rows);          // (1, 48)
    cut.cross.output.weight = model.cross.output.weight * rows;                    // (48, 48)
    cut.cross.output.bias = squeeze(matmul(usual, model.cross.output.weight), 0);  // (48)
    const Verb expected = verb_without(cut, task(), b, 0),
               found = verb_without(model, task(), b, heads, {}, Instead::mean_of_verbs);
    CHECK(found.stem == Approx(expected.stem));
    CHECK(found.ending == Approx(expected.ending));
  }
}

TEST_CASE("a swap changes the first noun, and nothing else", "[phase6][course]") {
  const TranslationBatch b = task().batch(
      {translate({"cats", "see", "dogs"}), translate({"small", "bees", "hear", "cats"})});
  const TranslationBatch given = swapped(task(), b, Side::given),
                         source = swapped(task(), b, Side::source);
  CHECK(given.source.values == b.source.values);
  CHECK(given.target.targets.values == b.target.targets.values);
  CHECK(source.target.inputs.values == b.target.inputs.values);
  const auto differing = [](const Indices& x, const Indices& y) {
    std::vector<std::size_t> at;
    for (std::size_t i = 0; i < x.values.size(); ++i) {
      if (x.values[i] != y.values[i]) at.push_back(i);
    }
    return at;
  };
  const std::size_t target = 5, read = 4;  // <bos> and four words; four words
  CHECK(differing(given.target.inputs, b.target.inputs) == std::vector<std::size_t>{1, target + 1});
  CHECK(differing(source.source, b.source) == std::vector<std::size_t>{0, read + 1});
  CHECK(task().target_words().word(given.target.inputs.values[1]) == "kane");
  CHECK(task().target_words().word(given.target.inputs.values[target + 1]) == "topi");
  CHECK(task().source_words().word(source.source.values[0]) == "dogs");
  CHECK(task().source_words().word(source.source.values[read + 1]) == "mice");
}

TEST_CASE("an adjective may take the ending of the noun put before it", "[phase6][course]") {
  const TranslationBatch b = task().batch(
      {translate({"small", "cats", "see", "dogs"}), translate({"small", "dogs", "see", "cats"})});
  const TranslationBatch other = swapped(task(), b, Side::given_with_adjective);
  for (std::size_t row = 0; row < 2; ++row) {
    const std::size_t noun = row * static_cast<std::size_t>(b.target.inputs.shape[1]) + 1;
    // The same nouns the other way round: each sentence now has the other one's first words.
    const std::size_t of_other = (1 - row) * static_cast<std::size_t>(b.target.inputs.shape[1]) + 1;
    CHECK(other.target.inputs.values[noun] == b.target.inputs.values[of_other]);
    CHECK(other.target.inputs.values[noun + 1] == b.target.inputs.values[of_other + 1]);
    CHECK(other.target.inputs.values[noun + 2] == b.target.inputs.values[noun + 2]);
  }
}
