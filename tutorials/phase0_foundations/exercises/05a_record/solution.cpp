#include "phase0.hpp"

namespace learn {

std::size_t scalar_add(ScalarTape& tape, std::size_t a, std::size_t b) {
  const double x = tape.records[a].value, y = tape.records[b].value;
  tape.records.push_back({x + y, {{a, 1}, {b, 1}}});
  return tape.records.size() - 1;
}

std::size_t scalar_multiply(ScalarTape& tape, std::size_t a, std::size_t b) {
  const double x = tape.records[a].value, y = tape.records[b].value;
  tape.records.push_back({x * y, {{a, y}, {b, x}}});
  return tape.records.size() - 1;
}

}  // namespace learn
