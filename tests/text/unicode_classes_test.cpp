#include "text/unicode_classes.hpp"

#include <cstdint>

#include "catch.hpp"
#include "tapestry/unicode.hpp"
#include "text/normalizer.hpp"

using namespace tapestry;

namespace {

// FNV-1a.
class Hash {
 public:
  void add(std::uint64_t x) { value_ = (value_ ^ x) * 1099511628211u; }
  void add(const std::string& text) {
    for (const char c : text) add(std::uint64_t{static_cast<unsigned char>(c)});
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037u;
};

constexpr char32_t points = 0x110000;
// Surrogates, and where Unicode has nothing but private use.
bool is_left_out(char32_t point) {
  return (point >= 0xD800 && point < 0xE000) || (point >= 0x34000 && point < 0xE0000) ||
         point >= 0xE1000;
}

}  // namespace

// The three numbers were the same with utf8proc 2.8, 2.9, 2.10 and 2.11, of Unicode 15.0, 15.1,
// 16.0 and 17.0. If they differ with a later one, the code points that it adds must be listed.
TEST_CASE("code points are those of Unicode 15.0, with any utf8proc", "[text]") {
  Hash kinds, lower, normal;
  Hash newer;  // also where utf8proc does not know them
  std::uint64_t assigned = 0, many_newer = 0;
  for (char32_t p = 0; p < points; ++p) {
    assigned += is_assigned(p);
    many_newer += is_newer(p);
    if (is_newer(p)) newer.add(p);
    kinds.add(static_cast<unsigned>(kind_of(p)) | is_number(p) << 2 | is_mark(p) << 3 |
              is_nonspacing_mark(p) << 4 | is_punctuation(p) << 5 | is_control(p) << 6 |
              is_word_character(p) << 7 | is_assigned(p) << 8);
    if (is_left_out(p)) continue;
    lower.add(lower_case(p));
    const std::string text = "a" + encode_utf8(p) + "\u0301\u0323";
    for (const NormalForm form :
         {NormalForm::nfc, NormalForm::nfd, NormalForm::nfkc, NormalForm::nfkd}) {
      normal.add(normal_form(text, form));
    }
  }
  CHECK(assigned == 149'186 + 65 + 137'468 + 2'048);  // graphic and format, control, private use,
                                                      // surrogates
  CHECK(many_newer == 627 + 5'185 + 4'803);           // of Unicode 15.1, 16.0 and 17.0
  CHECK(newer.value() == 0xea8503a9d2aa9992);
  CHECK(kinds.value() == 0xf9dd1ecb8b6a555e);
  CHECK(lower.value() == 0xd185d4c5a9128e1e);
  CHECK(normal.value() == 0xfc2d5e062021ae42);
}

TEST_CASE("kinds of characters", "[text]") {
  for (const char32_t blank : {0x9, 0xA, 0xB, 0xC, 0xD, 0x20, 0x85, 0xA0, 0x1680, 0x2000, 0x200A,
                               0x2028, 0x2029, 0x202F, 0x205F, 0x3000}) {
    CAPTURE(static_cast<unsigned>(blank));
    CHECK(is_blank(blank));
  }
  for (const char32_t not_blank : {0x0, 0x1C, 0x1F, 0x61, 0x180E, 0x200B, 0x2060, 0xFEFF, 0xFFFD}) {
    CAPTURE(static_cast<unsigned>(not_blank));
    CHECK(!is_blank(not_blank));
  }
  CHECK(kind_of(U'é') == CharacterKind::letter);
  CHECK(kind_of(U'本') == CharacterKind::letter);
  CHECK(kind_of(U'½') == CharacterKind::number);
  CHECK(kind_of(U'Ⅷ') == CharacterKind::number);
  CHECK(kind_of(U'\u0301') == CharacterKind::other);  // a mark
  CHECK(kind_of(0x10FFFF) == CharacterKind::other);
  CHECK(kind_of(0x2EBF0) == CharacterKind::other);  // an ideograph, but of Unicode 15.1
  CHECK(is_punctuation('$'));
  CHECK(is_punctuation(U'—'));
  CHECK(!is_punctuation(U'€'));
  CHECK(!is_punctuation(' '));
  CHECK(!is_punctuation(0x7F));
  CHECK(is_word_character('_'));
  CHECK(is_word_character(U'ⓐ'));
  CHECK(!is_word_character('-'));
}

TEST_CASE("the first and the last character of a text, UTF-8 or not", "[text]") {
  CHECK(first_character("é").bytes == 2);
  CHECK(last_character("aé").point == U'é');
  CHECK(last_character("a😀").bytes == 4);
  for (const char* bad : {"\x80", "a\x80", "\xC3", "é\x80", "\xF0\x9F\x98"}) {
    CHECK(!last_character(bad).valid);
    CHECK(last_character(bad).bytes == 1);
    CHECK(last_character(bad).point == 0xFFFD);
  }
  CHECK(last_character("é").point == U'é');
  CHECK(!last_character("").valid);
  CHECK(!first_character(std::string_view("é").substr(0, 1)).valid);  // though more bytes follow
  CHECK(!first_character("\xC3(").valid);
  CHECK(!first_character("\x80").valid);
  CHECK(first_character("\xC3(").bytes == 1);
  CHECK(first_character("\xED\xA0\x80").point == 0xFFFD);
}

TEST_CASE("lower case and normal forms leave alone what is not UTF-8 or not assigned", "[text]") {
  CHECK(lower_case(U'É') == "é");
  CHECK(lower_case(0x130) == "i\u0307");
  CHECK(lower_case(U'ß') == "ß");
  CHECK(lower_case(0x10D50) == encode_utf8(0x10D50));  // a capital of Unicode 16.0
  CHECK(normal_form("e\u0301\xFF"
                    "e\u0301",
                    NormalForm::nfc) == "é\xFFé");
  CHECK(normal_form("é", NormalForm::nfd) == "e\u0301");
  CHECK(normal_form("ﬁ", NormalForm::nfkc) == "fi");
  CHECK(normal_form("각", NormalForm::nfkd) == "\u1100\u1161\u11A8");
  CHECK(normal_form("", NormalForm::nfc).empty());
  CHECK(normal_form(std::string_view("e\u0301\xFF").substr(0, 3), NormalForm::nfc) == "é");
  CHECK(normal_form("a\u0301" + encode_utf8(0x897) + "\u0323", NormalForm::nfd) ==
        "a\u0301" + encode_utf8(0x897) + "\u0323");  // a mark of 16.0 does not move
}

TEST_CASE("normal forms keep U+11A7 behind a Hangul syllable", "[text]") {
  for (const NormalForm form : {NormalForm::nfc, NormalForm::nfkc}) {
    CHECK(normal_form("\uAC00\u11A7", form) == "\uAC00\u11A7");
    CHECK(normal_form("\u1100\u1161\u11A7", form) == "\uAC00\u11A7");
    CHECK(normal_form("\u1100\u1161\u11A8", form) == "\uAC01");
  }
  CHECK(normal_form("\uAC00\u11A7", NormalForm::nfd) == "\u1100\u1161\u11A7");
}

TEST_CASE("runs of marks are put in order, and a megabyte of them takes no time to speak of",
          "[text]") {
  CHECK(normal_form("a\u0301\u0323\u0300\u0324", NormalForm::nfd) == "a\u0323\u0324\u0301\u0300");
  for (const std::string marks : {"\u0301\u0323", "\u0F73"}) {  // the latter is two marks
    std::string text = "a", expected = "a";
    const std::string parts = marks.size() == 4 ? marks : "\u0F72\u0F71";
    const std::size_t half = parts.size() / 2;
    const int runs = 250'000;
    for (int i = 0; i < runs; ++i) text += marks;
    for (int i = 0; i < runs; ++i) expected += parts.substr(half);
    for (int i = 0; i < runs; ++i) expected += parts.substr(0, half);
    CHECK((normal_form(text, NormalForm::nfd) == expected));
    CHECK(normal_form(text, NormalForm::nfc).size() <= text.size() * 2);
  }
}

TEST_CASE("the first and the last character of each block of Chinese stand alone", "[text]") {
  const NormalizerStep step{
      .kind = NormalizerStep::Kind::bert, .name = "BertNormalizer", .chinese = true};
  const auto made_of = [&](int point) {
    return normalised(step, "a" + encode_utf8(char32_t(point)) + "b");
  };
  for (const int point : {0x4E00, 0x9FFF, 0x3400, 0x4DBF, 0x20000, 0x2A6DF, 0x2A700, 0x2B73F,
                          0x2B740, 0x2B81F, 0x2B920, 0x2CEAF, 0xF900, 0xFAFF, 0x2F800, 0x2FA1F}) {
    CHECK(made_of(point) == "a " + encode_utf8(char32_t(point)) + " b");
  }
  for (const int point : {0x4DFF, 0xA000, 0x33FF, 0x4DC0, 0x1FFFF, 0x2A6E0, 0x2A6FF, 0x2B820,
                          0x2B91F, 0x2CEB0, 0xF8FF, 0xFB00, 0x2F7FF, 0x2FA20}) {
    CHECK(made_of(point) == "a" + encode_utf8(char32_t(point)) + "b");
  }
}
