// The decoder of step 43 from any seed.
#include "course/next_word_models.hpp"

#include "catch.hpp"
#include "ops/expect.hpp"

using namespace tapestry;

TEST_CASE("a decoder learns, and its seed alone makes it", "[phase4][course]") {
  const Vocabulary vocabulary(Grammar().words());
  Random random(5);
  const Batch test = next_word_rows(vocabulary, Part::held_out, 30, random);  // (30, 7)
  const Transformer model = trained_decoder(vocabulary, 1, 60);
  const Tensor logits = model(test.inputs);  // (30, 7, vocabulary)
  CHECK(difference_to(trained_decoder(vocabulary, 1, 60)(test.inputs), logits) == "");
  CHECK(largest_difference(trained_decoder(vocabulary, 2, 60)(test.inputs), logits) > 0.01);
  Random first(1);
  const Transformer fresh(model.options, first);
  CHECK(double{cross_entropy(logits, test.targets).item()} <
        double{cross_entropy(fresh(test.inputs), test.targets).item()} - 0.3);
}
