// Tables of numbers that a command found: printed, drawn, and written for other programs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "tapestry/tensor.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry::command {

struct Table {
  std::string name;         // "heads", in JSON and above the table
  std::string row, column;  // what rows and columns are: "layer", "head"
  Words rows, columns;      // their labels
  Tensor values;            // (rows, columns)
  std::string unit = {};    // of the values, beside the colours of a picture; "": the name
  Tensor interval = {};     // of means, half the 95 % interval of each: (rows, columns), or none
};

struct Findings {
  std::string command;                                       // "cut"
  std::vector<std::pair<std::string, std::string>> about;    // "model", "text", ...: for JSON
  std::vector<std::pair<std::string, double>> numbers = {};  // single ones, for JSON
  std::vector<Table> tables = {};                            // the first is what --npy writes
};

// "-1.25"; what rounds to 0 has no sign.
std::string two_digits(double value);

// "0", "1", ..., as labels.
Words numbered(Index count);

// Prints a table; where its columns do not fit into 80, the largest values in a list, with a note.
void print_table(const Table& table);

// Draws a table as a heatmap, two-sided around 0, or upward from 0.
void write_heatmap(const Table& table, const std::string& title, const std::string& subtitle,
                   const Path& path);

// Throws Error for a name that no file can have, that of a folder or below a file, and for a file
// of the model that the command reads. To be called before the work, which may take long. `path` is
// what `option` names; empty: no file.
void check_file(const char* option, const Path& path, const ModelOptions& read = {});

// The same for these options.
void check_files(const FileOptions& options, const ModelOptions& read = {});

// Writes the files that were asked for, and says so.
void write_files(const Findings& findings, const FileOptions& options);

}  // namespace tapestry::command
