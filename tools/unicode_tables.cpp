// unicode_tables OUTPUT: writes the properties of all characters, as utf8proc knows them, for the
// explorer's engine: Debian has that library for this machine's processor only, not for
// WebAssembly. tools/explorer/engine/utf8proc.cpp reads them.
#include <utf8proc.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using Point = utf8proc_int32_t;
using Points = std::vector<Point>;

constexpr Point end_of_unicode = 0x110000, first_hangul = 0xAC00, last_hangul = 0xD7A3;

Points decomposed(Point point, int options) {
  Point parts[64];
  int boundary = 0;
  const auto count =
      utf8proc_decompose_char(point, parts, 64, static_cast<utf8proc_option_t>(options), &boundary);
  return count < 0 ? Points{point} : Points(parts, parts + count);
}

// The one character that two become, or -1.
Point composed(Point first, Point second) {
  Points two = {first, second};
  const auto count = utf8proc_normalize_utf32(
      two.data(), 2, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  return count == 1 ? two[0] : -1;
}

// A table of ranges: of each its first character and its value.
void write_ranges(std::FILE* file, const char* name, int (*value_of)(Point)) {
  std::fprintf(file, "constexpr Range %s[] = {\n", name);
  for (Point point = 0, before = -1; point < end_of_unicode; ++point) {
    const int value = value_of(point);
    if (point == 0 || value != before) std::fprintf(file, "{%d,%d},\n", point, value);
    before = value;
  }
  std::fprintf(file, "};\n");
}

// Full decompositions: sorted, with the place of their parts in one list. Hangul is computed.
void write_decompositions(std::FILE* file, const char* name, int options) {
  Points parts;
  std::fprintf(file, "constexpr Decomposition %s[] = {\n", name);
  for (Point point = 0; point < end_of_unicode; ++point) {
    if (point >= first_hangul && point <= last_hangul) continue;
    const Points all = decomposed(point, options);
    if (all.size() == 1 && all[0] == point) continue;
    std::fprintf(file, "{%d,%zu,%zu},\n", point, parts.size(), all.size());
    parts.insert(parts.end(), all.begin(), all.end());
  }
  std::fprintf(file, "};\nconstexpr utf8proc_int32_t %s_parts[] = {\n", name);
  for (const Point part : parts) std::fprintf(file, "%d,\n", part);
  std::fprintf(file, "};\n");
}

// Which pairs are one character.
void write_pairs(std::FILE* file) {
  std::map<std::pair<Point, Point>, Point> pairs;
  for (Point point = 0; point < end_of_unicode; ++point) {
    if (point >= first_hangul && point <= last_hangul) continue;
    Points all = decomposed(point, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
    if (all.size() < 2) continue;
    const Point last = all.back();
    all.pop_back();
    const auto count = utf8proc_normalize_utf32(
        all.data(), static_cast<utf8proc_ssize_t>(all.size()),
        static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    if (count == 1 && composed(all[0], last) == point) pairs[{all[0], last}] = point;
  }
  std::fprintf(file, "constexpr Pair pairs[] = {\n");
  for (const auto& [pair, point] : pairs) {
    std::fprintf(file, "{%d,%d,%d},\n", pair.first, pair.second, point);
  }
  std::fprintf(file, "};\n");
}

int combining_class(Point point) { return utf8proc_get_property(point)->combining_class; }
int lower_distance(Point point) { return utf8proc_tolower(point) - point; }
int category(Point point) { return utf8proc_category(point); }

}  // namespace

int main(int count, char** words) {
  std::FILE* file = count == 2 ? std::fopen(words[1], "w") : nullptr;
  if (file == nullptr) {
    std::fprintf(stderr, "unicode_tables: give one file that can be written.\n");
    return EXIT_FAILURE;
  }
  write_ranges(file, "categories", category);
  write_ranges(file, "widths", utf8proc_charwidth);
  write_ranges(file, "combining_classes", combining_class);
  write_ranges(file, "lower_distances", lower_distance);
  constexpr int canonical = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
  write_decompositions(file, "canonical", canonical);
  write_decompositions(file, "compatible", canonical | UTF8PROC_COMPAT);
  write_pairs(file);
  const bool written = std::fclose(file) == 0;
  if (!written) std::fprintf(stderr, "unicode_tables: %s cannot be written.\n", words[1]);
  return written ? EXIT_SUCCESS : EXIT_FAILURE;
}
