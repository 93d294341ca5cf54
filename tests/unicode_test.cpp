#include "unicode.hpp"

#include "catch.hpp"
#include "ops/expect.hpp"

using namespace tapestry;

TEST_CASE("the first code point of a text is measured, and what is not UTF-8 has none",
          "[phase2][text]") {
  CHECK(code_point_bytes("a\xff") == 1);
  CHECK(code_point_bytes(std::string_view("\0", 1)) == 1);
  CHECK(code_point_bytes("\xC3\x9F") == 2);           // ß
  CHECK(code_point_bytes("\xE2\x88\x9A rest") == 3);  // √
  CHECK(code_point_bytes("\xF0\x9F\x98\x80") == 4);   // a smile
  for (const char* last : {"\x7F", "\xDF\xBF", "\xEF\xBF\xBF", "\xF4\x8F\xBF\xBF", "\xED\x9F\xBF",
                           "\xC2\x80", "\xE0\xA0\x80", "\xF0\x90\x80\x80", "\xEE\x80\x80"}) {
    CHECK(code_point_bytes(last) == std::string_view(last).size());
  }
  for (const char* bad :
       {"", "\x80", "\xC0\xAF", "\xC1\xBF", "\xC3", "\xC3(", "\xE2\x88", "\xE0\x80\x80",
        "\xF0\x80\x80\x80", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xF0\x9F\x98"}) {
    CHECK(code_point_bytes(bad) == 0);
  }
}

TEST_CASE("text that is not UTF-8 is refused with the byte", "[phase2][text]") {
  check_utf8("");
  check_utf8("na\xC3\xAFve \xE2\x88\x9A");
  CHECK(complaint([] { check_utf8("abc\xE4 d"); }, {"not UTF-8 at byte 3 of 6", "iconv"}) == "");
}

TEST_CASE("quoted for a message, a text is one short printable line", "[phase2][text]") {
  CHECK(in_quotes("word") == "'word'");
  CHECK(in_quotes("") == "''");
  CHECK(in_quotes("a\nb\x7F\xff") ==
        "'a?b?"
        "?'");
  CHECK(in_quotes("\xC3\x9F") == "'\xC3\x9F'");
  CHECK(in_quotes(std::string(60, 'a')) == "'" + std::string(60, 'a') + "'");
  CHECK(in_quotes(std::string(61, 'a')) == "'" + std::string(60, 'a') + "...'");
}
