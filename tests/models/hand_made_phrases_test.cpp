// Phrases: their words, and what they mean as matrices.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/models/hand_made.hpp"

using namespace tapestry;

namespace {

constexpr Index words = 9, positions = 20;

HandMadeOptions sizes(double sharpness = 20, std::int32_t beginning = -1) {
  return {words, positions, sharpness, 10, beginning};
}

}  // namespace

TEST_CASE("phrases are read as they are written, and no others", "[phase5][hand]") {
  for (const Phrase phrase : all_phrases) CHECK(phrase_of(to_string(phrase)) == phrase);
  CHECK(phrase_of("  What  followed the\tsame word ") == Phrase::what_followed);
  CHECK(complaint([] { (void)phrase_of("previous token"); },
                  {"'previous token' is not a phrase", "'previous word', 'first word', 'same word'",
                   "'what followed the same word'", "Did you mean 'previous word'?"}) == "");
  CHECK(complaint([] { (void)phrase_of(""); }, {"'' is not a phrase"}) == "");
  CHECK(complaint([] { (void)phrase_of("word"); }, {"'word' is not a phrase"}) == "");
}

TEST_CASE("each word and each position has its numbers in the matrices", "[phase5][hand]") {
  const HandMadeColumns at = columns_of(sizes());
  const auto numbers = [](const Tensor& x) {  // their count, where they are not 0
    const std::vector<real> all = x.values();
    return static_cast<Index>(all.size()) - std::count(all.begin(), all.end(), real(0));
  };
  const auto count = [&](Phrase phrase, std::int32_t beginning = -1) {
    const HandMadeMatrices head = matrices_of(phrase, sizes(20, beginning));
    CHECK(numbers(head.value) == words - (beginning < 0 ? 0 : 1));
    CHECK(numbers(head.output) == words);
    return std::tuple(head.query.size(1), numbers(head.query), numbers(head.key));
  };
  const std::int32_t first = 0;  // a word, too
  const Index both = words + positions;
  CHECK(count(Phrase::previous_word) == std::tuple(positions, positions - 1, positions));
  CHECK(count(Phrase::first_word) == std::tuple(Index{1}, positions, Index{1}));
  CHECK(count(Phrase::same_word) == std::tuple(both, both, both));
  CHECK(count(Phrase::what_followed) == std::tuple(words, words, 2 * words));
  CHECK(count(Phrase::what_followed, first) == std::tuple(words + 1, both, words + 1));
  const double s = 20 * std::sqrt(double(words + positions));
  const HandMadeMatrices same = matrices_of(Phrase::same_word, sizes());
  for (Index i = 0; i < positions; ++i) {
    CHECK(double{same.query.at({at.position(i), words + i})} == Approx(-s / 2));
    CHECK(double{same.key.at({at.position(i), words + i})} == 1);
  }
}
