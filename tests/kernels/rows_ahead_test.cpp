#include "kernels/rows_ahead.hpp"

#include "catch.hpp"

namespace tapestry::kernels {

TEST_CASE("rows ahead are asked for a few at a time, matrix by matrix, each once",
          "[kernels][attention][phase2]") {
  const real numbers[64] = {};
  constexpr Index at_once = RowsAhead::at_once;
  RowsAhead ahead;
  ahead.ask();  // nothing was added
  CHECK(ahead.left() == 0);
  ahead.add(numbers, 20, 17, 3);
  ahead.add(numbers, 0, 64, 0);  // without rows
  ahead.add(nullptr, 8, 8, 9);
  ahead.add(numbers, 1, 1, 2 * at_once);
  for (const Index left : {3 + 2 * at_once, 3 + at_once, Index(3), Index(0), Index(0)}) {
    CHECK(ahead.left() == left);
    ahead.ask();
  }
}

TEST_CASE("rows ahead: of a long matrix its first rows", "[kernels][attention][phase2]") {
  const real number = 0;
  RowsAhead ahead;
  for (const Index rows : {RowsAhead::most_rows - 1, RowsAhead::most_rows, Index(1) << 40}) {
    ahead.add(&number, 0, 1, rows);
  }
  CHECK(ahead.left() == 3 * RowsAhead::most_rows - 1);
}

}  // namespace tapestry::kernels
