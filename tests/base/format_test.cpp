#include "tapestry/format.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

#include "catch.hpp"
#include "tapestry/random.hpp"

namespace tapestry {

TEST_CASE("exact_text is the shortest text of a number, and reads back as the same", "[phase0]") {
  CHECK(exact_text(0.1) == "0.1");
  CHECK(exact_text(-2) == "-2");
  CHECK(exact_text(1.0 / 3) == "0.3333333333333333");
  Random random(5);
  for (int i = 0; i < 1000; ++i) {
    const double number = random.normal() * std::pow(10.0, random.uniform() * 600 - 300);
    double again = 0;
    CAPTURE(number);
    CHECK(read_number(exact_text(number), again));
    CHECK(again == number);
  }
}

TEST_CASE("read_number reads a text that is one number and nothing else", "[phase0]") {
  double number = 0;
  CHECK((read_number("12.5e-1", number) && number == 1.25));
  CHECK((read_number("-0", number) && std::signbit(number)));
  CHECK((read_number("inf", number) && number == std::numeric_limits<double>::infinity()));
  for (const char* text :
       {"", " 1", "1 ", "+1", "1,5", "0x10", "1e", "1.5.2", "-", "one", "1\n", "--1"}) {
    CAPTURE(text);
    CHECK(!read_number(text, number));
  }
}

TEST_CASE("read_number refuses a whole number that does not fit its type", "[phase0]") {
  std::int64_t whole = 7;
  CHECK((read_number("-42", whole) && whole == -42));
  CHECK((read_number("9223372036854775807", whole) &&
         whole == std::numeric_limits<std::int64_t>::max()));
  std::uint8_t small = 0;
  CHECK((read_number("255", small) && small == 255));
  CHECK(!read_number("256", small));
  for (const char* text : {"", "1.0", " 1", "1 ", "+1", "9223372036854775808", "0x1"}) {
    CAPTURE(text);
    CHECK(!read_number(text, whole));
  }
}

}  // namespace tapestry
