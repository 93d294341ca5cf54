// The functions of utf8proc that the library calls, from tables of it (tools/unicode_tables.cpp):
// the engine's processor is WebAssembly, for which no such library is packaged. The tests of the
// engine compare both on all characters.
#include <utf8proc.h>

#include <algorithm>
#include <iterator>

namespace {

using Point = utf8proc_int32_t;

struct Range {  // up to the next one
  Point first;
  int value;
};
struct Decomposition {
  Point point;
  std::size_t at, count;  // in the list of parts
};
struct Pair {
  Point first, second, composed;
};

#include "unicode_tables.inc"

// The Unicode Standard, section 3.12.
constexpr Point first_hangul = 0xAC00, leading = 0x1100, vowel = 0x1161, trailing = 0x11A7,
                leading_count = 19, vowel_count = 21, trailing_count = 28,
                hangul_count = leading_count * vowel_count * trailing_count;

template <std::size_t N>
int value_of(const Range (&ranges)[N], Point point) {
  const Range* next = std::upper_bound(std::begin(ranges), std::end(ranges), point,
                                       [](Point p, const Range& range) { return p < range.first; });
  return next[-1].value;
}

bool is_character(Point point) { return point >= 0 && point < 0x110000; }

utf8proc_ssize_t decompose_hangul(Point point, Point* parts) {
  const Point number = point - first_hangul, last = number % trailing_count;
  parts[0] = leading + number / (vowel_count * trailing_count);
  parts[1] = vowel + number / trailing_count % vowel_count;
  if (last == 0) return 2;
  parts[2] = trailing + last;
  return 3;
}

template <std::size_t N>
const Decomposition* found_in(const Decomposition (&all)[N], Point point) {
  const Decomposition* at =
      std::lower_bound(std::begin(all), std::end(all), point,
                       [](const Decomposition& one, Point p) { return one.point < p; });
  return at != std::end(all) && at->point == point ? at : nullptr;
}

bool is_between(Point number, Point end) { return number >= 0 && number < end; }

// The one character of two, or -1.
Point composed(Point first, Point second) {
  if (is_between(first - leading, leading_count) && is_between(second - vowel, vowel_count)) {
    return first_hangul + ((first - leading) * vowel_count + second - vowel) * trailing_count;
  }
  const bool lacks_last = is_between(first - first_hangul, hangul_count) &&
                          (first - first_hangul) % trailing_count == 0;
  // Of U+11A7, which is no trailing letter, utf8proc makes nothing.
  if (lacks_last && second >= trailing && second < trailing + trailing_count) {
    return first + second - trailing;
  }
  const auto earlier = [](const Pair& a, const Pair& b) {
    return a.first < b.first || (a.first == b.first && a.second < b.second);
  };
  const Pair sought{first, second, 0};
  const Pair* at = std::lower_bound(std::begin(pairs), std::end(pairs), sought, earlier);
  const bool found = at != std::end(pairs) && at->first == first && at->second == second;
  return found ? at->composed : -1;
}

// A character joins the last one of class 0 unless one between them has its class or a higher one.
utf8proc_ssize_t compose(Point* points, utf8proc_ssize_t count) {
  utf8proc_ssize_t written = 0, starter = -1;
  int highest = -1;  // class since the starter
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    const Point point = points[i];
    const int own = value_of(combining_classes, point);
    const bool reaches = starter >= 0 && own > highest;
    const Point one = reaches ? composed(points[starter], point) : -1;
    if (one >= 0) {
      points[starter] = one;
      continue;
    }
    highest = own == 0 ? -1 : std::max(highest, own);
    if (own == 0) starter = written;
    points[written++] = point;
  }
  return written;
}

}  // namespace

extern "C" {

utf8proc_ssize_t utf8proc_iterate(const utf8proc_uint8_t* text, utf8proc_ssize_t size,
                                  Point* point) {
  *point = -1;
  if (size == 0) return 0;
  const int first = text[0];
  const int length = first < 0x80   ? 1
                     : first < 0xC2 ? 0
                     : first < 0xE0 ? 2
                     : first < 0xF0 ? 3
                     : first < 0xF5 ? 4
                                    : 0;
  if (length == 0 || (size > 0 && size < length)) return UTF8PROC_ERROR_INVALIDUTF8;
  Point value = length == 1 ? first : first & (0x7F >> length);
  for (int i = 1; i < length; ++i) {
    if ((text[i] & 0xC0) != 0x80) return UTF8PROC_ERROR_INVALIDUTF8;
    value = value << 6 | (text[i] & 0x3F);
  }
  constexpr Point least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value < 0xE000;
  if (value < least[length] || surrogate || value > 0x10FFFF) return UTF8PROC_ERROR_INVALIDUTF8;
  *point = value;
  return length;
}

utf8proc_ssize_t utf8proc_encode_char(Point point, utf8proc_uint8_t* text) {
  if (!is_character(point)) return 0;
  const int length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  for (int i = length - 1; i > 0; --i, point >>= 6) {
    text[i] = static_cast<utf8proc_uint8_t>(0x80 | (point & 0x3F));
  }
  constexpr int mark[] = {0, 0, 0xC0, 0xE0, 0xF0};
  text[0] = static_cast<utf8proc_uint8_t>(mark[length] | point);
  return length;
}

utf8proc_category_t utf8proc_category(Point point) {
  return static_cast<utf8proc_category_t>(is_character(point) ? value_of(categories, point) : 0);
}

int utf8proc_charwidth(Point point) { return is_character(point) ? value_of(widths, point) : 1; }

Point utf8proc_tolower(Point point) {
  return is_character(point) ? point + value_of(lower_distances, point) : point;
}

// Only its combining class is asked for; it counts until the next call.
const utf8proc_property_t* utf8proc_get_property(Point point) {
  static utf8proc_property_t property;
  property.combining_class =
      static_cast<utf8proc_propval_t>(is_character(point) ? value_of(combining_classes, point) : 0);
  return &property;
}

utf8proc_ssize_t utf8proc_decompose_char(Point point, Point* parts, utf8proc_ssize_t size,
                                         utf8proc_option_t options, int*) {
  if (!is_character(point)) return UTF8PROC_ERROR_NOTASSIGNED;
  if (size >= 3 && is_between(point - first_hangul, hangul_count)) {
    return decompose_hangul(point, parts);
  }
  const bool compat = (options & UTF8PROC_COMPAT) != 0;
  const Decomposition* found = compat ? found_in(compatible, point) : found_in(canonical, point);
  if (found == nullptr) return parts[0] = point, 1;
  const Point* from = (compat ? compatible_parts : canonical_parts) + found->at;
  std::copy_n(from, std::min(found->count, static_cast<std::size_t>(size)), parts);
  return static_cast<utf8proc_ssize_t>(found->count);
}

utf8proc_ssize_t utf8proc_normalize_utf32(Point* points, utf8proc_ssize_t count,
                                          utf8proc_option_t options) {
  return (options & UTF8PROC_COMPOSE) != 0 ? compose(points, count) : count;
}

const char* utf8proc_errmsg(utf8proc_ssize_t) { return "a character is not valid"; }

}  // extern "C"
