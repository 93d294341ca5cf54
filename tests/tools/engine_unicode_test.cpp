// What the explorer's engine has in place of utf8proc, against the library itself.
#include <utf8proc.h>

#include <array>
#include <string>
#include <vector>

#include "tapestry/random.hpp"
#include "tapestry/unicode.hpp"

// The engine's functions, under names of their own.
#define utf8proc_iterate engine_iterate
#define utf8proc_encode_char engine_encode_char
#define utf8proc_category engine_category
#define utf8proc_charwidth engine_charwidth
#define utf8proc_tolower engine_tolower
#define utf8proc_get_property engine_get_property
#define utf8proc_decompose_char engine_decompose_char
#define utf8proc_normalize_utf32 engine_normalize_utf32
#define utf8proc_errmsg engine_errmsg
#include "utf8proc.cpp"
#undef utf8proc_iterate
#undef utf8proc_encode_char
#undef utf8proc_category
#undef utf8proc_charwidth
#undef utf8proc_tolower
#undef utf8proc_get_property
#undef utf8proc_decompose_char
#undef utf8proc_normalize_utf32
#undef utf8proc_errmsg

namespace {

using Points = std::vector<Point>;

constexpr Point beyond = 0x110000;

// Those that the library asks for: canonical or compatible, decomposed or composed again.
constexpr std::array forms = {
    static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE),
    static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE),
    static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT),
    static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT)};

// Both functions are given by their names.
template <class Decompose>
Points parts_of(Decompose decompose, Point point, utf8proc_option_t form) {
  Points parts(64);
  int unused = 0;
  const utf8proc_ssize_t count = decompose(point, parts.data(), 64, form, &unused);
  if (count < 0) return {static_cast<Point>(count)};
  parts.resize(static_cast<std::size_t>(count));
  return parts;
}

template <class Normalize>
Points normal(Normalize normalize, Points points, utf8proc_option_t form) {
  const utf8proc_ssize_t count =
      normalize(points.data(), static_cast<utf8proc_ssize_t>(points.size()), form);
  points.resize(static_cast<std::size_t>(count));
  return points;
}

bool has_same_properties(Point point) {
  return engine_category(point) == utf8proc_category(point) &&
         engine_charwidth(point) == utf8proc_charwidth(point) &&
         engine_tolower(point) == utf8proc_tolower(point) &&
         engine_get_property(point)->combining_class ==
             utf8proc_get_property(point)->combining_class;
}

bool has_same_bytes(Point point) {
  std::array<utf8proc_uint8_t, 4> own{}, right{};
  return engine_encode_char(point, own.data()) == utf8proc_encode_char(point, right.data()) &&
         own == right;
}

bool has_same_parts(Point point) {
  for (const utf8proc_option_t form : forms) {
    const Points parts = parts_of(utf8proc_decompose_char, point, form);
    if (parts_of(engine_decompose_char, point, form) != parts) return false;
    const bool is_refused = !parts.empty() && parts.front() < 0;  // what stands there is the error
    if (!is_refused && normal(engine_normalize_utf32, parts, form) !=
                           normal(utf8proc_normalize_utf32, parts, form)) {
      return false;
    }
  }
  return true;
}

// Whether both find the same first character in so many bytes.
bool reads_same(const utf8proc_uint8_t* text, std::size_t bytes) {
  const auto size = static_cast<utf8proc_ssize_t>(bytes);
  Point own = 7, right = 8;
  return engine_iterate(text, size, &own) == utf8proc_iterate(text, size, &right) && own == right;
}

// A character of a kind that matters here: of two that compose, a mark, Hangul, any other.
Point drawn(tapestry::Random& random) {
  constexpr std::array<std::array<Point, 2>, 12> kinds = {{{0x20, 0x7E},
                                                           {0xA0, 0x24F},
                                                           {0x300, 0x36F},
                                                           {0x300, 0x316},
                                                           {0x1100, 0x11A6},
                                                           {0x11A8, 0x11FF},
                                                           {0xAC00, 0xD7A3},
                                                           {0x9C0, 0xDDF},
                                                           {0x1E00, 0x1FFF},
                                                           {0xF900, 0xFFEF},
                                                           {0x1D100, 0x1D7FF},
                                                           {0, 0x10FFFF}}};
  const auto [first, last] = kinds[static_cast<std::size_t>(random.randint(kinds.size()))];
  const Point point = first + static_cast<Point>(random.randint(last - first + 1));
  // utf8proc below 2.11.2 deletes it behind a syllable; the library never asks for that.
  const bool is_asked = point != 0x11A7 && !(point >= 0xD800 && point < 0xE000);
  return is_asked ? point : 0x301;
}

// Decomposed, its marks in the order of their classes: as the library has it before it composes.
Points decomposed(const Points& points, utf8proc_option_t form) {
  Points all;
  for (const Point point : points) {
    const Points parts = parts_of(utf8proc_decompose_char, point, form);
    all.insert(all.end(), parts.begin(), parts.end());
  }
  const auto class_of = [](Point p) { return utf8proc_get_property(p)->combining_class; };
  for (auto begin = all.begin(); begin != all.end();) {
    const auto end = std::find_if(begin + 1, all.end(), [&](Point p) { return class_of(p) == 0; });
    std::stable_sort(begin, end, [&](Point a, Point b) { return class_of(a) < class_of(b); });
    begin = end;
  }
  return all;
}

std::string bytes_of(const Points& points) {
  std::string text;
  for (const Point point : points) text += tapestry::encode_utf8(static_cast<char32_t>(point));
  return text;
}

}  // namespace

TEST_CASE("the engine knows each character as utf8proc does", "[tools][engine]") {
  Points properties, bytes, parts;  // where they differ
  for (Point point = -2; point < beyond + 2; ++point) {
    if (!has_same_properties(point)) properties.push_back(point);
    if (!has_same_bytes(point)) bytes.push_back(point);
    if (!has_same_parts(point)) parts.push_back(point);
  }
  CHECK(properties.empty());
  CHECK(bytes.empty());
  CHECK(parts.empty());
  // And is there at all.
  CHECK(engine_category('a') == UTF8PROC_CATEGORY_LL);
  CHECK(engine_charwidth(0x4E00) == 2);
  CHECK(engine_tolower(0xC9) == 0xE9);
  CHECK(engine_get_property(0x301)->combining_class == 230);
  CHECK(parts_of(engine_decompose_char, 0xFB01, forms[2]) == Points{'f', 'i'});
  CHECK(normal(engine_normalize_utf32, {'e', 0x301}, forms[1]) == Points{0xE9});
  CHECK(std::string(engine_errmsg(UTF8PROC_ERROR_INVALIDUTF8)) != "");
}

TEST_CASE("the engine reads bytes as utf8proc does, whatever they are", "[tools][engine]") {
  constexpr std::array<utf8proc_uint8_t, 8> ends = {0, 0x41, 0x7F, 0x80, 0x9A, 0xBF, 0xC0, 0xFF};
  std::size_t wrong = 0, read = 0;
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      for (const utf8proc_uint8_t third : ends) {
        const auto fourth = ends[read % ends.size()];
        const std::array<utf8proc_uint8_t, 4> text = {static_cast<utf8proc_uint8_t>(first),
                                                      static_cast<utf8proc_uint8_t>(second), third,
                                                      fourth};
        for (std::size_t size = 0; size <= 4; ++size) wrong += !reads_same(text.data(), size);
        ++read;
        if (first < 0xEF) continue;
        for (const utf8proc_uint8_t last : ends) {
          const std::array<utf8proc_uint8_t, 4> four = {text[0], text[1], third, last};
          wrong += !reads_same(four.data(), 4);
        }
      }
    }
  }
  CHECK(wrong == 0);
  CHECK(read == 256 * 256 * ends.size());
}

TEST_CASE("the engine reads and composes texts as utf8proc does", "[tools][engine]") {
  tapestry::Random random(77);
  std::size_t unequal = 0, unread = 0, composed_ones = 0, invalid = 0;
  for (int i = 0; i < 10'000; ++i) {
    Points points;
    for (tapestry::Index left = random.randint(12); left >= 0; --left)
      points.push_back(drawn(random));
    for (const utf8proc_option_t form : forms) {
      const Points apart = decomposed(points, form);
      const Points right = normal(utf8proc_normalize_utf32, apart, form);
      unequal += normal(engine_normalize_utf32, apart, form) != right;
      composed_ones += right.size() < apart.size();
    }
    std::string text = bytes_of(points);
    for (tapestry::Index damages = random.randint(4); damages > 0; --damages) {
      const auto at = static_cast<std::size_t>(random.randint(std::ssize(text)));
      text[at] = static_cast<char>(random.randint(256));
      if (random.randint(3) == 0) text.erase(at, 1);
      if (text.empty()) text = "\xE2";
    }
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
    for (std::size_t at = 0; at < text.size();) {
      unread += !reads_same(bytes + at, text.size() - at);
      Point point = 0;
      const auto count =
          utf8proc_iterate(bytes + at, static_cast<utf8proc_ssize_t>(text.size() - at), &point);
      invalid += count <= 0;
      at += static_cast<std::size_t>(std::max<utf8proc_ssize_t>(count, 1));
    }
  }
  CHECK(unequal == 0);
  CHECK(unread == 0);
  CHECK(composed_ones > 5'000);  // the strings are of use
  CHECK(invalid > 5'000);
}
