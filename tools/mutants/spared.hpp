// What is not mutated.
#pragma once

#include <string>
#include <vector>

#include "source.hpp"

namespace mutants {

// A declaration with `constexpr`
struct Constant {
  std::size_t from, to;  // from the word constexpr to the end of the value or the function
  bool function;
  std::string name;
};
std::vector<Constant> constants_of(const Source& source);

// Tokens that cannot be mutated, since the compiler needs their value or they are not executed:
// arguments of templates, cases, sizes of arrays, attributes, enumerators, assertions, and what
// tests ask of the kernels' functions (`Claim claim`, `slope_error`).
std::vector<bool> fixed_tokens(const Source& source);

// Tokens that affect only speed: memory reserved, prefetches; how much work is worth a thread
// (`_grain`, `Index work`, `Index grain`), the blocks of a product, and where its next tile stands
// (`Index next_row`, `Index next_column`).
std::vector<bool> tokens_for_speed(const Source& source);

// Tokens whose value is as good as another: what seeds a generator of random numbers (`.seed = `,
// `Random(...)`), and a member's value before it is set: `= 0` and `= false`, except in types of
// options, where they are what a user gets who names none.
std::vector<bool> arbitrary_tokens(const Source& source);

// Whether the numbers of this file are what the lessons chose: how long a model learns, on how many
// texts it is judged. What comes of them is printed by the lessons, and check_lessons compares it.
bool is_of_lessons(const Source& source);

}  // namespace mutants
