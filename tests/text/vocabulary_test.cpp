#include "tapestry/text/vocabulary.hpp"

#include "catch.hpp"
#include "ops/expect.hpp"

using namespace tapestry;

using Ids = std::vector<std::int32_t>;

TEST_CASE("a text is split at blanks and made lower-case", "[phase1][text]") {
  CHECK(split_words("The cat SAT") == Words{"the", "cat", "sat"});
  CHECK(split_words("@AZ[ `az{") == Words{"@az[", "`az{"});
  CHECK(split_words("  on\tthe\r\n mat ") == Words{"on", "the", "mat"});
  CHECK(split_words("") == Words{});
  CHECK(split_words(" \n") == Words{});
  CHECK(split_words("\xc3\x84pfel") == Words{"\xc3\x84pfel"});  // letters beyond A-Z stay
}

TEST_CASE("special words come first, then the words in order, each once", "[phase1][text]") {
  const Vocabulary vocabulary({"the", "cat", "the", "<pad>", "mat"});
  CHECK(vocabulary.words() ==
        Words{"<pad>", "<bos>", "<eos>", "<mask>", "<unk>", "the", "cat", "mat"});
  CHECK(vocabulary.size() == 8);
  CHECK(vocabulary.id("<pad>") == Vocabulary::pad);
  CHECK(vocabulary.id("<bos>") == Vocabulary::bos);
  CHECK(vocabulary.id("<eos>") == Vocabulary::eos);
  CHECK(vocabulary.id("<mask>") == Vocabulary::mask);
  CHECK(vocabulary.id("<unk>") == Vocabulary::unk);
  CHECK(Vocabulary({}).size() == 5);
  CHECK(Vocabulary(vocabulary.words()).words() == vocabulary.words());
}

TEST_CASE("words become ids and ids words again", "[phase1][text]") {
  const Vocabulary vocabulary(split_words("the cat sat on mat"));
  const Indices ids = vocabulary.encode("The cat sat on the mat");
  CHECK(ids.shape == Shape{6});
  CHECK(ids.values == Ids{5, 6, 7, 8, 5, 9});
  CHECK(vocabulary.decode(ids) == "the cat sat on the mat");
  CHECK(vocabulary.decode(Indices({2, 1}, {6, 0})) == "cat <pad>");
  CHECK(vocabulary.encode("").shape == Shape{0});
  CHECK(vocabulary.decode(vocabulary.encode("")).empty());
  CHECK(vocabulary.word(9) == "mat");
  CHECK(vocabulary.contains("cat"));
  CHECK_FALSE(vocabulary.contains("Cat"));
}

TEST_CASE("a batch fills short texts up with <pad>", "[phase1][text]") {
  const Vocabulary vocabulary({"a", "b"});
  const Indices ids = vocabulary.batch({{"a", "b", "a"}, {}, {"b"}});
  CHECK(ids.shape == Shape{3, 3});
  CHECK(ids.values == Ids{5, 6, 5, 0, 0, 0, 6, 0, 0});
  CHECK(vocabulary.batch({}).shape == Shape{0, 0});
}

TEST_CASE("an unknown word is refused with the closest one, or becomes <unk>", "[phase1][text]") {
  const Vocabulary strict({"kitten", "mat"});
  CHECK(complaint([&] { strict.encode("the kiten"); }, {"'the' is not one of the 7 words"}) == "");
  CHECK(complaint([&] { strict.id("kiten"); }, {"Did you mean 'kitten'?"}) == "");
  CHECK(complaint([] { Vocabulary({"kitten\x1b"}).id("kitten"); }, {"mean 'kitten?'?"}) == "");
  CHECK(complaint([&] { strict.id("x"); }, {"'x'", "UnknownWord::replace"}) == "");
  const Vocabulary lenient({"kitten", "mat"}, UnknownWord::replace);
  CHECK(lenient.encode("the kitten").values == Ids{4, 5});
  CHECK(lenient.decode(lenient.encode("the kitten")) == "<unk> kitten");
}

TEST_CASE("ids that are no words and words that no text has are refused", "[phase1][text]") {
  const Vocabulary vocabulary({"mat"});
  CHECK(complaint([&] { vocabulary.word(6); }, {"id 6 is not one of the 6 words (0 to 5)"}) == "");
  CHECK(complaint([&] { vocabulary.decode(Indices({1}, {-1})); }, {"id -1"}) == "");
  for (const char* word : {"", "two words", "Capital", "line\n"}) {
    CHECK(complaint([&] { Vocabulary({word}); }, {"vocabulary: '", "' is not a word"}) == "");
  }
}

TEST_CASE("a text is taken apart into its code points, as they are", "[phase2][text]") {
  CHECK(split_characters("A\xC3\xA9 \n") == Words{"A", "\xC3\xA9", " ", "\n"});
  CHECK(split_characters("") == Words{});
  CHECK(split_characters(std::string_view("\0", 1)).size() == 1);
  CHECK(complaint([] { split_characters("ab\xff"); }, {"not UTF-8 at byte 2 of 3"}) == "");
}

TEST_CASE("a vocabulary of characters goes from text to ids and back, letter by letter",
          "[phase2][text]") {
  const std::string text = "To be,\nor not\xE2\x80\xA6";  // with an ellipsis
  const Vocabulary vocabulary = Vocabulary::of_characters(text);
  CHECK(vocabulary.words() == Words{"<pad>", "<bos>", "<eos>", "<mask>", "<unk>", "\n", " ", ",",
                                    "T", "b", "e", "n", "o", "r", "t", "\xE2\x80\xA6"});
  const Indices ids = vocabulary.encode(text);
  CHECK(ids.shape == Shape{14});
  CHECK(ids.values == Ids{8, 12, 6, 9, 10, 7, 5, 12, 13, 6, 11, 12, 14, 15});
  CHECK(vocabulary.decode(ids) == text);
  CHECK(vocabulary.encode(split_characters(text)).values == ids.values);
  CHECK(vocabulary.decode(Indices({2}, {Vocabulary::bos, 8})) == "<bos>T");
  CHECK(Vocabulary::of_characters("ton\xE2\x80\xA6T,reb \n").words() == vocabulary.words());
}

TEST_CASE("characters that are not in the vocabulary are refused, or become <unk>",
          "[phase2][text]") {
  const Vocabulary strict = Vocabulary::of_characters("ab");
  CHECK(complaint([&] { strict.encode("abc"); }, {"'c' is not one of the 7 words"}) == "");
  CHECK(complaint([&] { strict.encode("<pad>"); }, {"'<' is not"}) == "");
  CHECK(complaint([&] { strict.encode("a\xff"); }, {"not UTF-8 at byte 1 of 2"}) == "");
  CHECK(complaint([] { Vocabulary::of_characters("\xff"); }, {"not UTF-8 at byte 0 of 1"}) == "");
  const Vocabulary lenient = Vocabulary::of_characters("ab", UnknownWord::replace);
  CHECK(lenient.encode("acb").values == Ids{5, 4, 6});
  CHECK(Vocabulary::of_characters("").size() == 5);
  CHECK(strict.encode("").shape == Shape{0});
}
