// Which elements of its inputs an element of a record was made from.
#pragma once

#include <string>
#include <vector>

#include "tapestry/tape.hpp"

namespace tapestry {

using Place = std::vector<Index>;  // one position for each axis

struct Element {
  std::size_t record;
  Index number;  // in row-major order
  double value;
};

Place place_of(const Shape& shape, Index number);

// Whether the operation works on the elements at the same place, after broadcasting; and whether it
// has two operands, of which a tape may know one.
bool is_of_same_place(const std::string& operation);
bool is_of_two(const std::string& operation);

// The numbers of those elements of `input`; all of them, if more is not known of the operation.
std::vector<Index> made_from(const std::vector<Tape::Entry>& all, const Element& made,
                             std::size_t input);

}  // namespace tapestry
