// Small numbers as words.
#include "course/number_word.hpp"

#include "catch.hpp"

using namespace tapestry;

TEST_CASE("numbers from zero to ten have a word, others are digits", "[phase5][course]") {
  std::string all;
  for (int i = -1; i <= 11; ++i) all += number_word(i) + " ";
  CHECK(all == "-1 zero one two three four five six seven eight nine ten 11 ");
}
