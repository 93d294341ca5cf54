#include "kernels/rows_ahead.hpp"

#include "catch.hpp"

namespace tapestry::kernels {

TEST_CASE("rows ahead are asked for a few at a time, matrix by matrix, each once",
          "[kernels][attention][phase2]") {
  const real numbers[64] = {};
  RowsAhead ahead;
  ahead.ask();  // nothing was added
  CHECK(ahead.left() == 0);
  ahead.add(numbers, 20, 17, 3);
  ahead.add(numbers, 0, 64, 0);
  ahead.add(numbers, 1, 1, 2 * RowsAhead::at_once);
  CHECK(ahead.left() == 3 + 2 * RowsAhead::at_once);
  ahead.ask();
  CHECK(ahead.left() == 2 * RowsAhead::at_once - (RowsAhead::at_once - 3 - 1));  // one for none
  ahead.ask();
  CHECK(ahead.left() == 4);
  ahead.ask();
  CHECK(ahead.left() == 0);
  ahead.ask();
  CHECK(ahead.left() == 0);
}

}  // namespace tapestry::kernels
