// The extent of expressions and statements, from their tokens.
#pragma once

#include <vector>

#include "source.hpp"

namespace mutants {

constexpr int assignment_rank = 1, choice_rank = 2;

// The precedence of a binary operator: * more than +, + more than <; 0 for any other token.
int rank_of(const Source& source, std::size_t i);

// The first token of the left operand of operator i, and the token after its right operand, for an
// operator of this precedence.
std::size_t left_end(const Source& source, std::size_t i, int rank);
std::size_t right_end(const Source& source, std::size_t i, int rank);

// The : of a ?
std::size_t colon_of(const Source& source, std::size_t i);

// The ; of the statement that begins at i, if it is an expression, `throw`, `break` or `continue`;
// else `nowhere`. Also `nowhere` for a `throw` at a function's end, which compilers require.
std::size_t end_of_statement(const Source& source, std::size_t i);

// A declaration with `constexpr`
struct Constant {
  std::size_t from, to;  // from the word constexpr to the end of the value or the function
  bool function;
  std::string name;
};
std::vector<Constant> constants_of(const Source& source);

// Tokens that cannot be mutated, since the compiler needs their value or they are not executed:
// arguments of templates, cases, sizes of arrays, attributes, enumerators, assertions, and what
// tests ask of the kernels' functions (`Claim claim`).
std::vector<bool> fixed_tokens(const Source& source);

// Tokens that affect only speed: memory reserved, prefetches; how much work is worth a thread
// (`_grain`, `Index work`, `Index grain`), and the blocks of a product.
std::vector<bool> tokens_for_speed(const Source& source);

}  // namespace mutants
