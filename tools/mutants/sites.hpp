// The sites where a source file can be mutated, by rule: a constant changed, < and <= (or == and
// !=) exchanged, + and - exchanged, a statement dropped, a neighbouring index, operands swapped,
// also where the function of an operator passes them on.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "source.hpp"

namespace mutants {

enum class Rule { constant, comparison, sign, dropped, index, swapped };
constexpr int rules = 6;

// Tokens [from, to) become this text. It is inserted before `from` if they are none.
struct Edit {
  std::size_t from, to;
  std::string text;
};

struct Site {
  Rule rule;
  std::size_t from, to;  // the tokens of the whole expression or statement
  std::vector<Edit> edits;
  int line;                       // the first of the edits
  std::string original, mutated;  // these lines, joined and without comments
};

// Names whose value must be known at compile time: in sizes of arrays, template arguments and the
// like. And `struct T` for types of constants, whose members' default values must be known.
std::set<std::string> needed_names(const std::vector<Source>& sources);

// All sites, in the order of the file, except in constants of these names.
std::vector<Site> sites_of(const Source& source, const std::set<std::string>& needed);

// The tokens [from, to) with these edits, in one line.
std::string edited(const Source& source, std::size_t from, std::size_t to,
                   const std::vector<Edit>& edits);

}  // namespace mutants
