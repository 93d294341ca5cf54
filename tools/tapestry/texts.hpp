// --texts FILE: one question to many texts, and the means of what is found in them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "asking.hpp"

namespace tapestry::command {

// How a command asks many texts.
struct ManyTexts {
  Against against = Against::if_given;
  std::size_t texts = 1;    // in each line: one, or the two of patch
  std::string places = {};  // what names places ("--position"), so that all must be equally long
};

// What was found in many texts.
struct Many {
  Asked asked;  // about the last of them
  Path file;
  std::string words = {};            // the question
  Index shortest = 0, longest = 0;   // of the texts, in tokens
  Words texts = {};                  // each as it was read
  std::vector<double> answers = {};  // to each
  std::vector<Table> tables = {};    // means over the texts, with their intervals
  Words left_out = {};  // tables of places, which are not the same in texts of different lengths
};

// What is found in one text, always the same tables; the columns are those of its line.
using Look = std::function<std::vector<Table>(Asked& asked, const Words& columns)>;

// Asks about each line of --texts, columns of which tabs separate: the texts, and if given a token
// and the one to compare it with. Throws Error as open_asked, for a file without two lines, for a
// line that has other columns than the first, for tokens in lines and in the options, for texts of
// different lengths where places are named, and, with the number of the line, as ask() and `look`.
Many ask_many(const AskOptions& options, const ManyTexts& how, const Look& look);

// "2.10 ±0.31": the mean of numbers, and half its 95 % interval.
std::string mean_text(const std::vector<double>& values);

// "stories260K, mean over 24 texts": below the title of a picture.
std::string subtitle_of(const Many& many);

// Prints model, texts, question and the mean of the answers.
void print_question(const Many& many);

// Prints the means, and which tables are left out.
void print_tables(const Many& many);

// Findings with the same, and all answers as the last table.
Findings findings_of(const std::string& command, const Many& many);

}  // namespace tapestry::command
