// The lines of a file of texts, for --texts.
#pragma once

#include <string>
#include <vector>

#include "commands.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry::command {

// The texts and tokens of a line, which tabs separate.
struct TextLine {
  Index number;  // in the file, from 1
  Words columns;
};

// "texts.txt, line 3: "
std::string place_of(const Path& file, const TextLine& line);

// The lines that are not empty, with so many texts in each, and perhaps a token and another one.
// Throws Error for a file that cannot be read, is not UTF-8, or has fewer than two lines; and,
// naming the line, for columns that are empty or not as many as in the first line.
std::vector<TextLine> lines_of(const Path& file, std::size_t texts);

}  // namespace tapestry::command
