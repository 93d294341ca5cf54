// The real text of phase 7: that of the lessons, or a file of the reader's.
#pragma once

#include <filesystem>
#include <string>

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

}  // namespace tapestry
