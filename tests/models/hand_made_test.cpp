// Hand-made heads look where their phrases say, as sharply as computed, and make a model that
// predicts.
#include "tapestry/models/hand_made.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "catch.hpp"
#include "tapestry/accuracy.hpp"
#include "tapestry/analysis/patterns.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

constexpr Index words = 9, positions = 20;
constexpr std::int32_t bos = 1;

const HandMadeHead before{0, 0, Phrase::previous_word}, behind{1, 0, Phrase::what_followed};

HandMadeOptions sizes(double sharpness = 20, std::int32_t beginning = -1) {
  return {words, positions, sharpness, 10, beginning};
}

// The weights of a head on a text, (length, length).
Tensor map_of(const Transformer& model, const Indices& ids, Index layer, Index head) {
  const Capture seen;
  (void)model(ids, {}, {.need_weights = true});
  const Tensor all = seen["blocks." + std::to_string(layer) + ".attention.weights"];
  return squeeze(slice(squeeze(all, 0), 0, head, head + 1), 0);
}

// Random words after a first one; <bos> does not come again.
Indices text_of(Index length, std::uint64_t seed, std::int32_t first = bos) {
  Random random(seed);
  Indices ids({length}, std::vector<std::int32_t>(static_cast<std::size_t>(length), first));
  for (std::size_t i = 1; i < ids.values.size(); ++i) {
    ids.values[i] = static_cast<std::int32_t>(2 + random.randint(words - 2));
  }
  return ids;
}

// What the header says: the score of key j for a query at i, in units of the sharpness.
double score(Phrase phrase, const Indices& ids, std::size_t i, std::size_t j, bool rests) {
  const auto& w = ids.values;
  switch (phrase) {
    case Phrase::previous_word:
      return j + 1 == i ? 1 : 0;
    case Phrase::first_word:
      return j == 0 ? 1 : 0;
    case Phrase::same_word:
      return i == j ? 0.5 : w[i] == w[j] ? 1 : 0;
    case Phrase::what_followed:
      break;
  }
  if (j == 0) return rests ? 0.5 : w[i] == w[0] ? 0 : -1;
  return w[j - 1] == w[i] ? 1 : 0;
}

// The largest difference from softmax(sharpness * score), row by row.
double off(const Tensor& map, Phrase phrase, const Indices& ids, double sharpness, bool rests) {
  const auto length = static_cast<std::size_t>(ids.shape[0]);
  double worst = 0;
  for (std::size_t i = 0; i < length; ++i) {
    std::vector<double> row;
    double sum = 0;
    for (std::size_t j = 0; j <= i; ++j) {
      row.push_back(std::exp(sharpness * (score(phrase, ids, i, j, rests) - 1)));
      sum += row.back();
    }
    for (std::size_t j = 0; j < length; ++j) {
      const double expected = j <= i ? row[j] / sum : 0;
      const double found = double{map.at({static_cast<Index>(i), static_cast<Index>(j)})};
      worst = std::max(worst, std::abs(found - expected));
    }
  }
  return worst;
}

// A head of the phrase in layer 1, with others beside and before it that must not matter.
Transformer crowded(Phrase phrase, const HandMadeOptions& options) {
  return hand_made(options, {before,
                             {0, 2, Phrase::same_word},
                             {0, 1, Phrase::first_word},
                             {1, 1, phrase},
                             {1, 0, Phrase::first_word}});
}

}  // namespace

TEST_CASE("each phrase gives the weights that its scores say, row by row", "[phase5][hand]") {
  for (const Phrase phrase : all_phrases) {
    for (const std::int32_t beginning : {-1, bos}) {
      const Transformer model = crowded(phrase, sizes(20, beginning));
      for (const Index length : {1, 2, 3, 7, 20}) {
        for (const std::uint64_t seed : {1U, 2U, 3U}) {
          const Indices ids = text_of(length, seed, beginning < 0 ? 2 : bos);
          CAPTURE(to_string(phrase), beginning, length, seed);
          CHECK(off(map_of(model, ids, 1, 1), phrase, ids, 20, beginning >= 0) < 1e-3);
        }
      }
    }
  }
}

TEST_CASE("a sharp head puts nine tenths or more on its key", "[phase5][hand]") {
  const Indices ids({9}, {bos, 2, 3, 4, 2, 5, 6, 3, 8});
  const Transformer model = hand_made(sizes(20, bos), {before,
                                                       {0, 1, Phrase::first_word},
                                                       {0, 2, Phrase::same_word},
                                                       {1, 0, Phrase::what_followed}});
  const Tensor previous = map_of(model, ids, 0, 0), first = map_of(model, ids, 0, 1),
               same = map_of(model, ids, 0, 2), followed = map_of(model, ids, 1, 0);
  for (Index i = 1; i < 9; ++i) {
    CAPTURE(i);
    CHECK(double{previous.at({i, i - 1})} > 0.9);
    CHECK(double{first.at({i, 0})} > 0.9);
    CHECK(double{same.at({i, i == 4 ? 1 : i == 7 ? 2 : i})} > 0.9);
    CHECK(double{followed.at({i, i == 4 ? 2 : i == 7 ? 3 : 0})} > 0.9);
  }
}

TEST_CASE("sharpness goes from equal weights to a single key", "[phase5][hand]") {
  const Indices ids = text_of(12, 5);
  for (const Phrase phrase : {Phrase::previous_word, Phrase::first_word, Phrase::same_word}) {
    for (const double sharpness : {0.0, 0.5, 2.0, 6.0}) {
      CAPTURE(to_string(phrase), sharpness);
      const Transformer model = hand_made(sizes(sharpness), {{0, 0, phrase}});
      CHECK(off(map_of(model, ids, 0, 0), phrase, ids, sharpness, false) < 1e-4);
    }
  }
  const Transformer soft = hand_made(sizes(0), {before, behind});
  for (const Index layer : {0, 1}) {
    const Tensor map = map_of(soft, ids, layer, 0);
    const Tensor even = uniform_attention(map.shape(), Mask::causal());
    CHECK(largest_difference(map, even) < 1e-5);
  }
}

TEST_CASE("two heads by hand are induction: all right where a pair came before", "[phase5][hand]") {
  const Transformer model = hand_made(sizes(20, bos), {before, behind});
  Random random(11);
  for (int text = 0; text < 30; ++text) {
    std::vector<std::int32_t> list = {bos};  // then seven words in any order, and the same again
    const std::vector<Index> order = random.permutation(7);
    for (int time = 0; time < 2; ++time) {
      for (const Index word : order) list.push_back(static_cast<std::int32_t>(2 + word));
    }
    const Indices ids({15}, list);
    Indices targets({15}, std::vector<std::int32_t>(15, -1));
    for (std::size_t i = 8; i + 1 < 15; ++i) targets.values[i] = list[i + 1];
    const Tensor logits = model(ids);  // (15, words)
    CHECK(accuracy(logits, targets) == 1);
    CHECK(double{cross_entropy(logits, targets).item()} < 0.01);
  }
}

TEST_CASE("without a word that came before, its guess is blind", "[phase5][hand]") {
  const Transformer model = hand_made(sizes(20, bos), {before, behind});
  const Tensor chances = softmax(model(Indices({8}, {bos, 2, 3, 4, 5, 6, 7, 8})));
  for (const real chance : chances.values()) {
    CHECK(double{chance} == Approx(1.0 / words).epsilon(0.01));
  }
}

TEST_CASE("without the first of the two there is no induction", "[phase5][hand]") {
  const HandMadeOptions options = sizes(20, bos);
  const Transformer whole = hand_made(options, {before, behind});
  HandMadeHead alone = behind;
  alone.matrices = matrices_of(Phrase::what_followed, options);  // nobody writes what it reads
  const Transformer half = hand_made(options, {{0, 0, Phrase::first_word}, alone});
  const Indices ids({6}, {bos, 2, 3, 4, 5, 2});
  const auto chance = [&](const Transformer& model) {
    return double{softmax(model(ids)).at({5, 3})};
  };
  CHECK(chance(whole) > 0.99);
  CHECK(chance(half) < 0.2);
}

TEST_CASE("matrices make the head that a phrase makes, at any width", "[phase5][hand]") {
  const HandMadeOptions options = sizes(3);
  const Indices ids = text_of(10, 4);
  for (const Phrase phrase : {Phrase::previous_word, Phrase::first_word, Phrase::same_word}) {
    CAPTURE(to_string(phrase));
    const HandMadeHead by_phrase{0, 0, phrase};
    const HandMadeHead by_matrices{0, 0, {}, matrices_of(phrase, options)};
    const HandMadeHead wide{0, 1, Phrase::same_word};  // the other is filled up with zeros
    CHECK(largest_difference(hand_made(options, {by_phrase})(ids),
                             hand_made(options, {by_matrices})(ids)) == 0);
    CHECK(largest_difference(map_of(hand_made(options, {by_phrase}), ids, 0, 0),
                             map_of(hand_made(options, {by_matrices, wide}), ids, 0, 0)) < 1e-5);
  }
}

TEST_CASE("of matrices without value and output, what was found comes next", "[phase5][hand]") {
  const HandMadeOptions options = sizes();
  HandMadeHead head{0, 0, {}, matrices_of(Phrase::previous_word, options)};
  head.matrices.value = head.matrices.output = {};
  const Tensor logits = hand_made(options, {head})(Indices({5}, {2, 0, 5, 3, 7}));  // (5, words)
  for (const auto& [place, word] : {std::pair{1, 2}, {2, 0}, {3, 5}, {4, 3}}) {
    CHECK(double{logits.at({place, word})} == Approx(10).epsilon(1e-3));
    CHECK(double{logits.at({place, 8})} == Approx(0).margin(1e-3));
  }
  HandMadeHead replaced = before;  // a phrase with another key
  replaced.matrices.key = matrices_of(Phrase::previous_word, sizes()).key * -1;
  const Tensor map = map_of(hand_made(options, {replaced}), text_of(5, 1), 0, 0);
  CHECK(double{map.at({3, 2})} < 1e-6);
}

TEST_CASE("each word stands in its columns, and norms change nothing", "[phase5][hand]") {
  const Transformer model = hand_made(sizes(20, bos), {before, {0, 1, Phrase::first_word}, behind});
  const HandMadeColumns at = columns_of(sizes());
  const Capture seen;
  (void)model(Indices({5}, {bos, 2, 3, 4, 2}));
  const Tensor after = seen["blocks.1.output"], normed = seen["norm"];
  REQUIRE(after.size(1) == at.d_model());
  for (const Index column :
       {at.word(2), at.position(4), at.found(Phrase::previous_word, 4),
        at.found(Phrase::first_word, bos), at.found(Phrase::what_followed, 3)}) {
    CAPTURE(column);
    CHECK(double{after.at({4, column})} == Approx(1).epsilon(1e-3));
    const double before_it = column == at.found(Phrase::first_word, bos) ? 1 : 0;
    CHECK(double{after.at({3, column})} == Approx(before_it).margin(1e-3));
  }
  CHECK(double{after.at({4, at.constant()})} == 1000);
  for (Index column = 0; column < at.constant(); ++column) {
    CHECK(double{normed.at({4, column})} == Approx(double{after.at({4, column})}).epsilon(1e-4));
  }
  CHECK(double{normed.at({4, at.constant()})} == 0);
  const Tensor& gain = std::get<RmsNorm>(model.norm->layer).weight;
  const double divisor = std::sqrt((1000.0 * 1000 + 2) / double(at.d_model()));
  CHECK(double{gain.at({0})} == Approx(divisor).epsilon(1e-7));
}

TEST_CASE("a model has the layers, heads and widths that its heads need", "[phase5][hand]") {
  const Index d = columns_of(sizes()).d_model();
  const HandMadeMatrices narrow{Tensor::ones({d, 1}), Tensor::ones({d, 1}), Tensor::ones({d, 1}),
                                Tensor::ones({1, d})};
  const TransformerOptions one = hand_made(sizes(), {{0, 0, {}, narrow}}).options;
  CHECK((one.num_layers == 1 && one.num_heads == 1 && one.d_k == 1 && !one.has_feed_forward));
  const TransformerOptions three =
      hand_made(sizes(), {before, behind, {2, 1, Phrase::first_word}}).options;
  CHECK((three.num_layers == 3 && three.num_heads == 2 && three.d_k == positions));
  CHECK(hand_made({1, 1, 1000, 1000}, {{0, 0, Phrase::first_word}}).options.d_model == 7);
}

TEST_CASE("it is an ordinary model: a file keeps it, and a step teaches it", "[phase5][hand]") {
  const TemporaryFolder folder;
  const Transformer model = hand_made(sizes(4, bos), {before, behind});
  const Indices ids = text_of(16, 9);
  write_transformer(folder / "hand", model);
  CHECK(largest_difference(read_transformer(folder / "hand")(ids), model(ids)) == 0);
  Indices targets = ids;  // the next words
  std::rotate(targets.values.begin(), targets.values.begin() + 1, targets.values.end());
  targets.values.back() = -1;
  const auto loss = [&] { return cross_entropy(model(ids), targets); };
  Adam adam(model.parameters(), {.learning_rate = 1e-3});
  const double loss_before = double{loss().item()};
  Tape tape(model.parameters());
  const Gradients gradients = tape.backward(loss());
  for (const TransformerBlock& block : model.blocks) {  // it reaches what the heads look at
    double sum = 0;
    for (const real number : gradients[block.attention.query.weight].values()) {
      sum += std::abs(double{number});
    }
    CHECK(sum > 0);
  }
  adam.step(gradients);
  CHECK(double{loss().item()} < loss_before - 0.001);
}
