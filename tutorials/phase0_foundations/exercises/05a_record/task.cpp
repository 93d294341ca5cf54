// 05a. Recording sums and products
//
// A tape for single numbers is a list of records. A record holds a value, and for each value that
// it was made from the number of that record and a slope: how fast the new value changes with the
// old one. These types are given:
//
//   struct ScalarInput  { std::size_t record; double slope; };
//   struct ScalarRecord { double value; std::vector<ScalarInput> inputs; double gradient = 0; };
//   struct ScalarTape   { std::vector<ScalarRecord> records; };
//
// Write two operations. Each appends one record to tape.records and returns its number; the first
// record has the number 0. a and b are the numbers of earlier records, not values; they may be
// equal.
//
//   scalar_add        value a + b; it changes as fast as a, and as fast as b
//   scalar_multiply   value a b; if a grows by 1, it grows by b, and the other way round
//
// tape.records.push_back({value, {{a, slope}, {b, slope}}}) appends a record.
// Lesson: tutorials/phase0_foundations/README.md, "05 A tape of our own"
#include "phase0.hpp"

namespace learn {

std::size_t scalar_add(ScalarTape& tape, std::size_t a, std::size_t b) {
  // Yours.
  not_written_yet();
}

std::size_t scalar_multiply(ScalarTape& tape, std::size_t a, std::size_t b) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
