#include "course/held_out.hpp"

#include "catch.hpp"

using namespace tapestry;

TEST_CASE("the hash of the words, letter by letter, says what is held out", "[phase2][text]") {
  int held_out = 0;
  for (char a = 'a'; a <= 'z'; ++a) {
    for (char b = 'a'; b <= 'z'; ++b) {
      const std::string first(1, a), second(1, b);
      const std::uint64_t number =
          static_cast<unsigned char>(a) * std::uint64_t{1'000'003} + static_cast<unsigned char>(b);
      const bool expected = Random(number).randint(10) == 0;
      CHECK(is_held_out({first, second}) == expected);
      CHECK(is_held_out({first + second}) == expected);
      held_out += expected;
    }
  }
  CHECK((held_out > 40 && held_out < 95));  // of 676, with a deviation of 8
  const std::uint64_t umlaut = 0xC3 * std::uint64_t{1'000'003} + 0xA4;  // bytes are no numbers < 0
  CHECK(is_held_out({"\xC3\xA4"}) == (Random(umlaut).randint(10) == 0));
}
