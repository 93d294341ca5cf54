#include "base/json.hpp"

#include <string>

#include "catch.hpp"
#include "ops/expect.hpp"

using namespace tapestry;

TEST_CASE("text that is no JSON is refused with the byte, numbers out of range with their kind",
          "[phase1][io]") {
  CHECK(complaint([] { parse_json("[1, 2"); }, {"it is not valid JSON near byte 6 of 5."}) == "");
  CHECK(complaint([] { parse_json("[1e999]"); }, {"it has a number that is out of range."}) == "");
}

TEST_CASE("a name may stand in several objects, and once in each", "[phase1][io]") {
  const auto parse = [](const std::string& text) { return parse_json(text).dump(); };
  CHECK(parse(R"({"a":{"b":1},"b":{"a":2}})") == R"({"a":{"b":1},"b":{"a":2}})");
  CHECK(parse(R"([{"a":1},{"a":1}])") == R"([{"a":1},{"a":1}])");
  CHECK(complaint([&] { parse(R"({"a":{"b":1},"a":2})"); }, {"the name 'a' stands twice"}) == "");
  CHECK(complaint([&] { parse(R"({"a":{"b":1,"b":1}})"); }, {"the name 'b' stands twice"}) == "");
}
