#include "tapestry/unicode.hpp"

#include <cstdlib>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "temporary_folder.hpp"

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

TEST_CASE("UTF-8 is decoded strictly, and encoded", "[phase0][text]") {
  using Points = std::vector<char32_t>;
  CHECK(decode_utf8("").empty());
  CHECK(decode_utf8("aß√😀") == Points{'a', 0xDF, 0x221A, 0x1F600});
  CHECK(decode_utf8("\xC0\xAF") == Points{0xFFFD, 0xFFFD});  // overlong "/"
  CHECK(decode_utf8("\xE2\x82") == Points{0xFFFD, 0xFFFD});  // cut off
  CHECK(decode_utf8("\xED\xA0\x80")[0] == 0xFFFD);           // surrogate
  CHECK(decode_utf8("\xFF-") == Points{0xFFFD, '-'});
  for (const char32_t point : {U'a', U'ß', U'√', U'😀', char32_t{0}}) {
    CHECK(decode_utf8(encode_utf8(point)) == Points{point});
  }
}

TEST_CASE("wide signs take two columns of a terminal, marks and controls none", "[phase0][text]") {
  const auto width = [](char32_t point) { return display_width(encode_utf8(point)); };
  // Hangul, a symbol of today's emoji, a kanji, a syllable, a full-width letter, a smile
  for (const char32_t sign : {0x1100, 0x2705, 0x65E5, 0xAC00, 0xFF21, 0x1F600}) {
    CAPTURE(static_cast<unsigned>(sign));
    CHECK(width(sign) == 2);
  }
  // Latin, Greek, a minus, infinity, an ellipsis, a check mark, a replacement
  for (const char32_t sign : {0x20, 0x7E, 0xE9, 0x3B8, 0x2212, 0x221E, 0x2026, 0x2713, 0xFFFD}) {
    CAPTURE(static_cast<unsigned>(sign));
    CHECK(width(sign) == 1);
  }
  // controls; accents of Latin, Hebrew, Devanagari and Thai; signs that only join or part others
  for (const char32_t mark : {0x1, 0x1F, 0x7F, 0x301, 0x5BF, 0x941, 0xE31, 0x200B, 0x200D}) {
    CAPTURE(static_cast<unsigned>(mark));
    CHECK(width(mark) == 0);
  }
  CHECK(display_width("wörter") == 6);
  CHECK(display_width("日本") == 4);
  CHECK(display_width("e\xCC\x81") == 1);  // e and a combining accent
}

TEST_CASE("text is cut by what a terminal shows", "[phase0][text]") {
  CHECK(cut_to_width("internationalisation", 6) == "inter…");
  CHECK(cut_to_width("日本語", 4) == "日…");
  CHECK(cut_to_width("日本語", 5) == "日本…");
  CHECK(cut_to_width("e\xCC\x81xyz", 2) == "e\xCC\x81…");
  CHECK(cut_to_width("short", 5) == "short");
  CHECK(cut_to_width("short", 1) == "…");
  CHECK(cut_to_width("short", 0) == "");
  CHECK(cut_to_width("", 0) == "");
}

TEST_CASE("text that is not UTF-8 is refused with the byte", "[phase2][text]") {
  check_utf8("");
  check_utf8("na\xC3\xAFve \xE2\x88\x9A");
  CHECK(complaint([] { check_utf8("abc\xE4 d"); }, {"not UTF-8 at byte 3 of 6", "iconv"}) == "");
  CHECK(complaint([] { check_utf8("\xE4"); }, {"not UTF-8 at byte 0 of 1"}) == "");
}

TEST_CASE("quoted for a message, a text is one short printable line", "[phase2][text]") {
  CHECK(in_quotes("word") == "'word'");
  CHECK(in_quotes("") == "''");
  CHECK(in_quotes("two words") == "'two words'");
  CHECK(in_quotes("a\nb\x7F\xff") ==
        "'a?b?"
        "?'");
  CHECK(in_quotes("a\xC2\x80"
                  "b\xC2\x9B"
                  "31m\xC2\x9F\xC2\xA0") == "'a?b?31m?\xC2\xA0'");  // U+009B is as ESC [
  CHECK(in_quotes("\xC3\x9F") == "'\xC3\x9F'");
  CHECK(in_quotes(std::string(60, 'a')) == "'" + std::string(60, 'a') + "'");
  CHECK(in_quotes(std::string(61, 'a')) == "'" + std::string(60, 'a') + "...'");
}

namespace {

// What sh makes of the quoted words: each followed by a line "|".
std::string read_by_shell(const std::vector<std::string>& words) {
  const TemporaryFolder folder;
  std::string script = "printf '%s\\n|\\n'";
  for (const std::string& word : words) script += " " + shell_quote(word);
  std::ofstream(folder / "script", std::ios::binary)
      << script << " >'" << (folder / "out").string() << "'";
  const std::string line = "sh -c \"$(cat '" + (folder / "script").string() + "')\"";
  return std::system(line.c_str()) == 0 ? content(folder / "out") : "sh failed";
}

}  // namespace

TEST_CASE("quoted for a shell, any text comes back from it, to the byte", "[phase5][tools]") {
  std::string all;
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  const std::vector<std::string> words = {"plain",
                                          "Don't panic",
                                          "",
                                          " ",
                                          "'",
                                          "'''a",
                                          "a\\",
                                          "\\'\\",
                                          "\"$HOME`id`!\"",
                                          "\n\n  first",
                                          "last\n\n",
                                          "\n",
                                          "-x",
                                          "--",
                                          "--text=a b",
                                          "~",
                                          "*",
                                          "#no",
                                          "a;b|c&d",
                                          "tab\there",
                                          "\t",
                                          "bell\a\x1b[31mred\n\x1b",
                                          "\x7f",
                                          "na\xC3\xAFve \xE2\x88\x9A",
                                          "\xC2\x9B[31m",
                                          "\xC2\xA0",
                                          "\xFF\xC3",
                                          "%s%n\\0",
                                          "a=b",
                                          all};
  std::string expected;
  for (const std::string& word : words) expected += word + "\n|\n";
  CHECK(read_by_shell(words) == expected);
}

TEST_CASE("quoted for a shell, a text shows no control characters, and plain ones are as they were",
          "[phase5][tools]") {
  CHECK(shell_quote("out/checkpoints/a_b-1.x") == "out/checkpoints/a_b-1.x");
  CHECK(shell_quote("azAZ09_-+./:,@%") == "azAZ09_-+./:,@%");
  for (const char sign : std::string("`{[;=")) {  // the neighbours of those
    CHECK(shell_quote(std::string(1, sign)) == "'" + std::string(1, sign) + "'");
  }
  CHECK(shell_quote("") == "''");
  CHECK(shell_quote("the cat") == "'the cat'");
  CHECK(shell_quote("Don't") == "'Don'\\''t'");
  CHECK(shell_quote("a\x1b[1mb") == "'a'\"$(printf '\\033')\"'[1mb'");
  CHECK(shell_quote("a\tb\x7F") == "'a'\"$(printf '\\011')\"'b'\"$(printf '\\177')\"");
  CHECK(shell_quote("\n") == "'\n'");
  CHECK(shell_quote("\xC2\xA0") == "'\xC2\xA0'");
  CHECK(shell_quote("\xC2\x9B") == "\"$(printf '\\302\\233')\"");
  CHECK(shell_quote("\xC2\x9F") == "\"$(printf '\\302\\237')\"");
  CHECK(shell_quote(std::string_view("a\0b", 3)) == "'a'\"$(printf '')\"'b'");
}
