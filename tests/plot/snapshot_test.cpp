#include "plot/snapshot.hpp"

#include "catch.hpp"

namespace tapestry::plot {

TEST_CASE("a fingerprint knows every pixel, and the size", "[phase0][plot]") {
  const Canvas paper(4, 6, 1);
  const std::uint64_t before = fingerprint({paper});
  CHECK(fingerprint({Canvas(4, 6, 1)}) == before);
  CHECK(fingerprint({Canvas(6, 4, 1)}) != before);
  CHECK(fingerprint({paper, paper}) != before);
  for (int row = 0; row < 6; ++row) {
    for (int column = 0; column < 4; ++column) {
      Canvas other = paper;
      other.fill_rect({double(column), double(row), 1, 1}, {255, 255, 254});
      CHECK(fingerprint({other}) != before);
    }
  }
}

}  // namespace tapestry::plot
