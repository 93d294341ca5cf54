#include "text/unicode_classes.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "tapestry/error.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry {
namespace {

struct Range {
  char32_t first, last;
};

// What Unicode 15.1, 16.0 and 17.0 assigned.
constexpr Range newer[] = {
    {0x88F, 0x88F},     {0x897, 0x897},     {0xC5C, 0xC5C},     {0xCDC, 0xCDC},
    {0x1ACF, 0x1ADD},   {0x1AE0, 0x1AEB},   {0x1B4E, 0x1B4F},   {0x1B7F, 0x1B7F},
    {0x1C89, 0x1C8A},   {0x20C1, 0x20C1},   {0x2427, 0x2429},   {0x2B96, 0x2B96},
    {0x2FFC, 0x2FFF},   {0x31E4, 0x31E5},   {0x31EF, 0x31EF},   {0xA7CB, 0xA7CF},
    {0xA7D2, 0xA7D2},   {0xA7D4, 0xA7D4},   {0xA7DA, 0xA7DC},   {0xA7F1, 0xA7F1},
    {0xFBC3, 0xFBD2},   {0xFD90, 0xFD91},   {0xFDC8, 0xFDCE},   {0x105C0, 0x105F3},
    {0x10940, 0x10959}, {0x10D40, 0x10D65}, {0x10D69, 0x10D85}, {0x10D8E, 0x10D8F},
    {0x10EC2, 0x10EC7}, {0x10ED0, 0x10ED8}, {0x10EFA, 0x10EFC}, {0x11380, 0x11389},
    {0x1138B, 0x1138B}, {0x1138E, 0x1138E}, {0x11390, 0x113B5}, {0x113B7, 0x113C0},
    {0x113C2, 0x113C2}, {0x113C5, 0x113C5}, {0x113C7, 0x113CA}, {0x113CC, 0x113D5},
    {0x113D7, 0x113D8}, {0x113E1, 0x113E2}, {0x116D0, 0x116E3}, {0x11B60, 0x11B67},
    {0x11BC0, 0x11BE1}, {0x11BF0, 0x11BF9}, {0x11DB0, 0x11DDB}, {0x11DE0, 0x11DE9},
    {0x11F5A, 0x11F5A}, {0x13460, 0x143FA}, {0x16100, 0x16139}, {0x16D40, 0x16D79},
    {0x16EA0, 0x16EB8}, {0x16EBB, 0x16ED3}, {0x16FF2, 0x16FF6}, {0x187F8, 0x187FF},
    {0x18CFF, 0x18CFF}, {0x18D09, 0x18D1E}, {0x18D80, 0x18DF2}, {0x1CC00, 0x1CCFC},
    {0x1CD00, 0x1CEB3}, {0x1CEBA, 0x1CED0}, {0x1CEE0, 0x1CEF0}, {0x1E5D0, 0x1E5FA},
    {0x1E5FF, 0x1E5FF}, {0x1E6C0, 0x1E6DE}, {0x1E6E0, 0x1E6F5}, {0x1E6FE, 0x1E6FF},
    {0x1F6D8, 0x1F6D8}, {0x1F777, 0x1F77A}, {0x1F8B2, 0x1F8BB}, {0x1F8C0, 0x1F8C1},
    {0x1F8D0, 0x1F8D8}, {0x1FA54, 0x1FA57}, {0x1FA89, 0x1FA8A}, {0x1FA8E, 0x1FA8F},
    {0x1FABE, 0x1FABE}, {0x1FAC6, 0x1FAC6}, {0x1FAC8, 0x1FAC8}, {0x1FACD, 0x1FACD},
    {0x1FADC, 0x1FADC}, {0x1FADF, 0x1FADF}, {0x1FAE9, 0x1FAEA}, {0x1FAEF, 0x1FAEF},
    {0x1FBCB, 0x1FBEF}, {0x1FBFA, 0x1FBFA}, {0x2B73A, 0x2B73F}, {0x2CEA2, 0x2CEAD},
    {0x2EBF0, 0x2EE5D}, {0x323B0, 0x33479},
};

// The symbols that are Alphabetic, though their category is So: letters in circles and squares.
constexpr Range letters_in_shapes[] = {
    {0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};

template <std::size_t N>
bool is_in(const Range (&ranges)[N], char32_t point) {
  const Range* at = std::upper_bound(std::begin(ranges), std::end(ranges), point,
                                     [](char32_t p, const Range& r) { return p < r.first; });
  return at != std::begin(ranges) && point <= at[-1].last;
}

utf8proc_category_t category(char32_t point) {
  if (is_newer(point)) return UTF8PROC_CATEGORY_CN;
  if (point == 0x1171E) return UTF8PROC_CATEGORY_MN;  // Unicode 16.0 made it Mc
  return utf8proc_category(static_cast<utf8proc_int32_t>(point));
}

bool is_between(char32_t point, utf8proc_category_t first, utf8proc_category_t last) {
  const utf8proc_category_t found = category(point);
  return first <= found && found <= last;
}

constexpr Character not_utf8 = {0xFFFD, 1, false};

constexpr CharacterKind l = CharacterKind::letter, n = CharacterKind::number,
                        b = CharacterKind::blank, o = CharacterKind::other;

constexpr utf8proc_option_t options_of(NormalForm form) {
  const bool composed = form == NormalForm::nfc || form == NormalForm::nfkc;
  const bool compatible = form == NormalForm::nfkc || form == NormalForm::nfkd;
  return static_cast<utf8proc_option_t>(UTF8PROC_STABLE |
                                        (composed ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
                                        (compatible ? UTF8PROC_COMPAT : 0));
}

// Marks of one run in the order of their combining classes. utf8proc would sort them by swapping
// neighbours, which takes quadratic time.
void sort_marks(std::vector<utf8proc_int32_t>& points) {
  const auto combining = [](utf8proc_int32_t p) {
    return utf8proc_get_property(p)->combining_class;
  };
  const auto starts = [&](utf8proc_int32_t p) { return combining(p) == 0; };
  for (auto begin = points.begin(); begin != points.end();) {
    begin = std::find_if_not(begin, points.end(), starts);
    const auto end = std::find_if(begin, points.end(), starts);
    if (end - begin > 1) {
      std::stable_sort(begin, end, [&](utf8proc_int32_t x, utf8proc_int32_t y) {
        return combining(x) < combining(y);
      });
    }
    begin = end;
  }
}

void check_utf8proc(utf8proc_ssize_t count) {
  if (count < 0) throw Error("normal_form: " + std::string(utf8proc_errmsg(count)) + ".");
}

// The text must be UTF-8.
void append_normal(std::string& result, std::string_view text, NormalForm form) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; })) {
    result += text;
    return;
  }
  const utf8proc_option_t options = options_of(form);
  std::vector<utf8proc_int32_t> points;
  points.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_character(text);
    utf8proc_int32_t parts[64];  // U+FDFA has the most parts, 18
    int unused = 0;
    const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(next.point), parts,
                                               std::size(parts), options, &unused);
    check_utf8proc(count);
    points.insert(points.end(), parts, parts + count);
    text.remove_prefix(next.bytes);
  }
  sort_marks(points);
  const auto count = utf8proc_normalize_utf32(
      points.data(), static_cast<utf8proc_ssize_t>(points.size()), options);
  check_utf8proc(count);
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    result += encode_utf8(static_cast<char32_t>(points[static_cast<std::size_t>(i)]));
  }
}

}  // namespace

const CharacterKind ascii_kinds[128] = {
    o, o, o, o, o, o, o, o, o, b, b, b, b, b, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o,
    b, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, n, n, n, n, n, n, n, n, n, n, o, o, o, o, o, o,
    o, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, o, o, o, o, o,
    o, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, o, o, o, o, o};

Character long_character(const char* text, const char* end) {
  utf8proc_int32_t value = 0;
  const auto bytes =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text), end - text, &value);
  if (bytes <= 0) return not_utf8;
  return {static_cast<char32_t>(value), static_cast<std::uint8_t>(bytes), true};
}

Character last_character(std::string_view text) {
  for (std::size_t bytes = 1; bytes <= 4 && bytes <= text.size(); ++bytes) {
    const std::string_view end = text.substr(text.size() - bytes);
    if ((static_cast<unsigned char>(end[0]) & 0xC0) == 0x80) continue;
    const Character found = first_character(end);
    return found.bytes == bytes ? found : not_utf8;
  }
  return not_utf8;
}

CharacterKind kind_of_long(char32_t point) {
  if (point == 0x85) return CharacterKind::blank;
  const utf8proc_category_t found = category(point);
  if (found == UTF8PROC_CATEGORY_CN) return CharacterKind::other;
  if (found <= UTF8PROC_CATEGORY_LO) return CharacterKind::letter;
  if (found >= UTF8PROC_CATEGORY_ND && found <= UTF8PROC_CATEGORY_NO) return CharacterKind::number;
  return found >= UTF8PROC_CATEGORY_ZS && found <= UTF8PROC_CATEGORY_ZP ? CharacterKind::blank
                                                                        : CharacterKind::other;
}

bool is_newer(char32_t point) { return is_in(newer, point); }
bool is_blank(char32_t point) { return kind_of(point) == CharacterKind::blank; }
bool is_number(char32_t point) { return kind_of(point) == CharacterKind::number; }
bool is_mark(char32_t point) {
  return is_between(point, UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME);
}
bool is_nonspacing_mark(char32_t point) { return category(point) == UTF8PROC_CATEGORY_MN; }

bool is_punctuation(char32_t point) {
  if (point < 0x7F) return point > ' ' && kind_of(point) == CharacterKind::other;
  return is_between(point, UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
}

bool is_control(char32_t point) {
  return is_between(point, UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CO);
}

bool is_word_character(char32_t point) {
  const utf8proc_category_t found = category(point);
  if (found == UTF8PROC_CATEGORY_CN) return false;
  if (found <= UTF8PROC_CATEGORY_NL || found == UTF8PROC_CATEGORY_PC) return true;
  return point == 0x200C || point == 0x200D || is_in(letters_in_shapes, point);
}

bool is_assigned(char32_t point) { return category(point) != UTF8PROC_CATEGORY_CN; }

std::string lower_case(char32_t point) {
  if (point == 0x130) return "i\xCC\x87";
  if (!is_assigned(point)) return encode_utf8(point);
  return encode_utf8(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(point))));
}

// The text is cut at a code point that was not assigned in 15.0, which neither moves, nor joins,
// nor falls apart; and before U+11A7, which utf8proc below 2.11.2 takes for the end of a Hangul
// syllable and deletes.
std::string normal_form(std::string_view text, NormalForm form) {
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character next = first_character(text.substr(at));
    const bool kept = !next.valid || !is_assigned(next.point);
    if (kept || next.point == 0x11A7) {
      append_normal(result, text.substr(done, at - done), form);
      done = at;
    }
    at += next.bytes;
    if (kept) {
      result += text.substr(done, next.bytes);
      done = at;
    }
  }
  append_normal(result, text.substr(done), form);
  return result;
}

}  // namespace tapestry
