// How weights of a translator agree with the alignment that is known.
#include "course/alignment.hpp"

#include <algorithm>

#include "catch.hpp"
#include "ops/expect.hpp"

using namespace tapestry;

namespace {

// The mean weight so many source words behind those that are marked, where there are so many.
double mean_weight(const Tensor& weights, const Tensor& marked, Index behind) {
  double sum = 0, count = 0;
  for (Index row = 0; row < weights.size(0); ++row) {
    for (Index t = 0; t < weights.size(1); ++t) {
      for (Index s = 0; s + behind < weights.size(2); ++s) {
        if (element(marked, {row, t, s}) == 0) continue;
        sum += element(weights, {row, t, s + behind});
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
  CHECK(same_number(found.aligned, mean_weight(weights, b.from, 0), 1e-5));
  CHECK(same_number(found.next, mean_weight(weights, b.from, 1), 1e-5));
  CHECK(same_number(found.agreeing, mean_weight(weights, b.ends_as, 0), 1e-5));
  CHECK(same_number(found.top, share_on_top(weights, b.from), 1e-5));
  CHECK(found.top > 0.01);
  CHECK(found.top < 0.5);
}
