#include "course/machine.hpp"

#include <ctime>

#include "catch.hpp"

using namespace tapestry;

namespace {

void compute_until(double seconds) {  // of all that this process has taken
  while (static_cast<double>(std::clock()) < seconds * CLOCKS_PER_SEC) continue;
}

double taken() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

TEST_CASE("the processor seconds of some work are those of its quickest run", "[phase6][machine]") {
  compute_until(0.1);
  int run = 0;
  const double best = processor_seconds([&] {
    const double longer[] = {0.03, 0.01, 0.02};
    compute_until(taken() + longer[run++]);
  });
  CHECK(run == 3);
  CHECK(best >= 0.0099);
  CHECK(best < 0.0199);
}
