#include "tapestry/closest.hpp"

#include "catch.hpp"

using namespace tapestry;

TEST_CASE("edit distance counts insertions, removals and replacements", "[phase1][text]") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("flaw", "lawn") == 2);
  CHECK(edit_distance("mat", "mat") == 0);
  CHECK(edit_distance("ab", "ba") == 2);
  CHECK(edit_distance("a", "abcd") == 3);
  CHECK(edit_distance("abcd", "a") == 3);
}

TEST_CASE("the closest word is the first at the smallest distance, if it is close",
          "[phase1][text]") {
  CHECK(closest("dgo", {"cat", "dog", "do"}) == "do");
  CHECK(closest("cot", {"rat", "cat", "cut"}) == "cat");
  CHECK(closest("query", {"value", "key"}).empty());
  CHECK(closest("", {"a"}).empty());
  CHECK(closest("x", {"a"}).empty());
  CHECK(closest("word", {}).empty());
  CHECK(closest("abcd", {"abxy"}) == "abxy");  // half of the letters
  const std::string longest(200, 'a'), longer(201, 'a');
  CHECK(closest(longest, {std::string(199, 'a') + "b"}).size() == 200);
  CHECK(closest(longer, {longest}).empty());
  CHECK(closest(longest, {longer}).empty());
  CHECK(closest(std::string(1'000'000, 'a'), {std::string(1'000'000, 'b')}).empty());
}
