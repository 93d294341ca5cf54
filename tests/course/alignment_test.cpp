// How weights of a translator agree with the alignment that is known.
#include "course/alignment.hpp"

#include <algorithm>

#include "catch.hpp"
#include "ops/expect.hpp"

using namespace tapestry;

namespace {

const std::string nouns = "cats birds wolves mice dogs horses goats bees";
const std::string verbs = "chase see hear follow";
const std::string phrases = "small old black fast near behind under";  // begin or go on with one

// The mean weight on the source words that are marked, of these kinds; moved: on the next noun.
double mean_weight(const Tensor& weights, const Tensor& marked, const TranslationBatch& b,
                   const std::string& kinds, bool moved = false) {
  const Vocabulary words = TranslationTask({5, 5}).source_words();
  double sum = 0, count = 0;
  for (Index row = 0; row < weights.size(0); ++row) {
    const auto is_one_of = [&](const std::string& list, Index s) {
      const auto at = static_cast<std::size_t>(row * weights.size(2) + s);
      return list.find(words.word(b.source.values[at])) != std::string::npos;
    };
    for (Index t = 0; t < weights.size(1); ++t) {
      for (Index s = 0; s < weights.size(2); ++s) {
        if (element(marked, {row, t, s}) == 0 || !is_one_of(kinds, s)) continue;
        Index on = s;
        while (moved && !is_one_of(nouns, on)) ++on;
        sum += element(weights, {row, t, on});
        ++count;
      }
    }
  }
  return sum / count;
}

// How often the marked source word has the greatest weight.
double share_on_top(const Tensor& weights, const Tensor& marked) {
  double top = 0, words = 0;
  for (Index row = 0; row < weights.size(0); ++row) {
    for (Index t = 0; t < weights.size(1); ++t) {
      double largest = 0, own = -1;
      for (Index s = 0; s < weights.size(2); ++s) {
        const double weight = element(weights, {row, t, s});
        largest = std::max(largest, weight);
        if (element(marked, {row, t, s}) == 1) own = weight, ++words;
      }
      top += own == largest;
    }
  }
  return top / words;
}

}  // namespace

TEST_CASE("alignment is the mean weight where words come from", "[phase6][course]") {
  const TranslationTask task({5, 5});
  Random random(3), drawing(77);
  LstmTranslator model({.hidden = 8}, task, random);
  model.ask.weight = model.ask.weight * 40;  // (8, 8): weights that differ much
  const TranslationBatch b = task.batch(Part::held_out, 300, drawing);
  const Tensor weights = model(b).weights;  // (300, target, source)
  const Alignment found = alignment(model);
  CHECK(found.sentences == 0);  // it has learned nothing
  const std::string all = nouns + " " + verbs + " " + phrases;
  CHECK(same_number(found.aligned, mean_weight(weights, b.from, b, all), 1e-5));
  CHECK(same_number(found.nouns, mean_weight(weights, b.from, b, nouns), 1e-5));
  CHECK(same_number(found.verbs, mean_weight(weights, b.from, b, verbs), 1e-5));
  CHECK(same_number(found.phrases, mean_weight(weights, b.from, b, phrases, true), 1e-5));
  CHECK(same_number(found.top, share_on_top(weights, b.from), 1e-5));
  CHECK(found.top > 0.01);
  CHECK(found.top < 0.5);
}
