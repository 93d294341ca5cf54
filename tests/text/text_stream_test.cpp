// Texts that arrive in pieces.
#include "tapestry/text/text_stream.hpp"

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/unicode.hpp"

using namespace tapestry;

TEST_CASE("only whole characters are shown", "[phase7][text]") {
  TextStream stream;
  CHECK(stream.add("a\xe2") == "a");
  CHECK(stream.add("\x82") == "");
  CHECK(stream.add("\xac!") == "€!");
  CHECK(stream.add("\xf0\x9f\x98") == "");
  CHECK(stream.add("\x80") == "😀");
  CHECK(stream.add("\xc3") == "");
  CHECK(stream.finish() == "\uFFFD");
  CHECK(stream.finish() == "");
}

TEST_CASE("bytes that are not UTF-8 are replaced, whenever they come", "[phase7][text]") {
  TextStream stream;
  CHECK(stream.add("\x80\xff") == "\uFFFD\uFFFD");
  CHECK(stream.add("\xe2\x82") == "");
  CHECK(stream.add("a") ==
        "\uFFFD\uFFFD"
        "a");
  CHECK(stream.add("\xf0\x9f\x98\x80\x80") == "😀\uFFFD");
}

TEST_CASE("what no byte can make a character is not held back", "[phase7][text]") {
  TextStream stream;
  for (const char* begin : {"\xed\xa0", "\xe0\x80", "\xf4\x90", "\xf0\x80"}) {
    CHECK(stream.add(begin) == "\uFFFD\uFFFD");
  }
  for (const char* begin : {"\xed\x9f", "\xe0\xa0", "\xf4\x8f", "\xf0\x90"}) {
    CHECK(stream.add(begin) == "");
    CHECK(stream.finish() == "\uFFFD\uFFFD");
  }
}

TEST_CASE("any cut of a text shows the same", "[phase7][text]") {
  const std::string text =
      "ж\u2581é😀\xff\xe2\x82x\xf0\x9f"
      "end";
  TextStream whole;
  const std::string expected = whole.add(text) + whole.finish();
  for (std::size_t size = 1; size < text.size(); ++size) {
    TextStream stream;
    std::string shown;
    for (std::size_t i = 0; i < text.size(); i += size) {
      const std::string part = stream.add(text.substr(i, size));
      check_utf8(part);
      shown += part;
    }
    CHECK(shown + stream.finish() == expected);
  }
}

TEST_CASE("a stop word ends a text and is not shown, however it is cut", "[phase7][text]") {
  const std::string text = "one two. The ENDing";
  for (std::size_t size = 1; size < text.size(); ++size) {
    TextStream stream({"END", "never", ".."});
    std::string shown;
    for (std::size_t i = 0; i < text.size(); i += size) shown += stream.add(text.substr(i, size));
    CHECK(stream.stopped());
    CHECK(shown == "one two. The ");
    CHECK(stream.finish() == "");
    CHECK(stream.add("more") == "");
  }
}

TEST_CASE("what may begin a stop word is held back until it is known", "[phase7][text]") {
  TextStream stream({"\n\n", "ab€"});
  CHECK(stream.add("x\n") == "x");
  CHECK(stream.add("y") == "\ny");
  CHECK(stream.add("ab\xe2\x82") == "");
  CHECK(stream.add("\xad") == "ab₭");
  CHECK(stream.add("aab") == "a");
  CHECK_FALSE(stream.stopped());
  CHECK(stream.finish() == "ab");
  CHECK(TextStream({"b", "ab"}).add("xab") == "x");
  CHECK(complaint([] { TextStream({"a", ""}); }, {"a stop word is empty"}) == "");
}
