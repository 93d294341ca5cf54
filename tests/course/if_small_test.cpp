// How lessons print errors of rounding.
#include "course/if_small.hpp"

#include <limits>

#include "catch.hpp"

using namespace tapestry;

TEST_CASE("an error is small below its limit, and NaN never is", "[phase6][course]") {
  CHECK(if_small(0) == "less than 1e-5");
  CHECK(if_small(9.99e-6) == "less than 1e-5");
  CHECK(if_small(1.01e-5) == "TOO MUCH");
  CHECK(if_small(1.01e-5, 4) == "less than 1e-4");
  CHECK(if_small(1.01e-4, 4) == "TOO MUCH");
  CHECK(if_small(std::numeric_limits<double>::quiet_NaN()) == "TOO MUCH");
}
