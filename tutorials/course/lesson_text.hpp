// The real text of phase 7: that of the lessons, or a file of the reader's.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tapestry {

struct RealText {
  std::string name;   // for messages: "the lessons of phases 0 to 6", or the file
  std::string bytes;  // UTF-8
};

// The pages of phases 0 to 6 in `tutorials` (phase0_foundations/README.md, ...), one after the
// other, by their names. Throws Error, with the way out, where such a page is missing in all of
// them: the program was then not started in the root of the repository.
std::string lessons_text(const std::filesystem::path& tutorials = "tutorials");

// What a program is to read: the file that its only argument names, or without one lessons_text().
// Throws Error as that and read_text() do, and for more than one argument.
RealText real_text(int count, const char* const* values);

// A text in two: nine tenths to learn from, and the last tenth to measure on.
struct TextParts {
  std::string learned, held_out;  // bytes
};

// The first part has 9 bytes of each whole ten, and what is then left of a character of UTF-8.
TextParts parts_of(const std::string& text);

// The text cut into runs of letters and digits (and of all bytes that are not ASCII), each with the
// blank in front of it if there is one; all else byte by byte.
std::vector<std::string> words_and_signs(const std::string& text);

}  // namespace tapestry
