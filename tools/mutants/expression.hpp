// Where expressions and statements begin and end, told from the tokens around them.
#pragma once

#include <vector>

#include "source.hpp"

namespace mutants {

constexpr int assignment_rank = 1, choice_rank = 2;

// How tightly a binary operator binds: * more than +, + more than <; 0 for any other token.
int rank_of(const Source& source, std::size_t i);

// The first token of what stands to the left of operator i, and the token after what stands to its
// right, as far as an operator of this rank reaches.
std::size_t left_end(const Source& source, std::size_t i, int rank);
std::size_t right_end(const Source& source, std::size_t i, int rank);

// The : of a ?
std::size_t colon_of(const Source& source, std::size_t i);

// The ; of the statement that begins at i, if it is an expression, `throw`, `break` or `continue`;
// else `nowhere`. So it is of a `throw` that ends a function: compilers need not go on without it.
std::size_t end_of_statement(const Source& source, std::size_t i);

// A declaration with `constexpr`
struct Constant {
  std::size_t from, to;  // from the word constexpr to the end of the value or the function
  bool function;
  std::string name;
};
std::vector<Constant> constants_of(const Source& source);

// Tokens that have to stay, for the compiler needs their value or they are no code that runs:
// arguments of templates, cases, sizes of arrays, attributes, enumerators, assertions.
std::vector<bool> fixed_tokens(const Source& source);

// Tokens that nothing but speed depends on: memory reserved, and fetched ahead; how much work is
// worth a thread (`_grain`), and in what blocks a product is computed.
std::vector<bool> tokens_for_speed(const Source& source);

}  // namespace mutants
