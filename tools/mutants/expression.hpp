// The extent of expressions and statements, from their tokens.
#pragma once

#include <vector>

#include "source.hpp"

namespace mutants {

constexpr int assignment_rank = 1, choice_rank = 2, call_rank = 14;

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

// The first of these tokens from i on, outside brackets.
std::size_t next_sign(const Source& source, std::size_t i, const char* sign);

}  // namespace mutants
