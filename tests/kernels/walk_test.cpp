// How loops over strided operands are merged and walked.
#include "kernels/walk.hpp"

#include <vector>

#include "kernels/kernel_test.hpp"

namespace tapestry::kernels {

TEST_CASE("a walk over one number has one dimension, of size 1", "[phase0][kernels]") {
  const Index stride[] = {5, 7}, *const strides[] = {stride, stride, stride};
  for (const int rank : {0, 2}) {
    Sizes sizes;
    sizes.rank = rank;
    sizes.size[0] = sizes.size[1] = 1;
    const Walk walk(sizes, 3, strides);
    CHECK(walk.operands == 3);
    CHECK(walk.rank == 1);
    CHECK(walk.size[0] == 1);
    CHECK(walk.outer() == 1);
  }
}

namespace {

Walk walk_of(const std::vector<Index>& size, const std::vector<Index>& a,
             const std::vector<Index>& b) {
  Sizes sizes;
  for (const Index n : size) sizes.size[sizes.rank++] = n;
  const Index* const strides[] = {a.data(), b.data()};
  return Walk(sizes, 2, strides);
}

using Numbered = std::vector<Index>;

// Sizes and then the strides of both operands.
std::vector<Numbered> parts_of(const Walk& walk) {
  const auto list = [&](const Index* first) { return Numbered(first, first + walk.rank); };
  return {list(walk.size), list(walk.stride[0]), list(walk.stride[1])};
}

}  // namespace

TEST_CASE("a walk merges dimensions that are contiguous for every operand", "[phase0][kernels]") {
  const Numbered dense = {12, 4, 1}, sizes = {2, 3, 4};
  using All = std::vector<Numbered>;
  CHECK(parts_of(walk_of(sizes, dense, dense)) == All{{24}, {1}, {1}});
  CHECK(parts_of(walk_of(sizes, dense, {0, 4, 1})) == All{{2, 12}, {12, 1}, {0, 1}});
  CHECK(parts_of(walk_of(sizes, {0, 4, 1}, dense)) == All{{2, 12}, {0, 1}, {12, 1}});
  CHECK(parts_of(walk_of(sizes, dense, {3, 1, 0})) == All{{6, 4}, {4, 1}, {1, 0}});
  CHECK(parts_of(walk_of(sizes, dense, {1, 0, 2})) == All{{2, 3, 4}, {12, 4, 1}, {1, 0, 2}});
  CHECK(parts_of(walk_of({2, 1, 4}, {4, 99, 1}, {4, 7, 1})) == All{{8}, {1}, {1}});
  CHECK(walk_of(sizes, dense, dense).outer() == 1);
  CHECK(walk_of(sizes, dense, {3, 1, 0}).outer() == 6);
  CHECK(walk_of({5, 3, 4}, dense, {1, 0, 2}).outer() == 15);
}

TEST_CASE("a position is the same at once and step by step", "[phase0][kernels]") {
  const Numbered size = {2, 3, 4, 5}, strides[] = {{1000, 100, 10, 1}, {7, 0, -3, 2}};
  const Walk walk = walk_of(size, strides[0], strides[1]);
  REQUIRE(walk.rank == 4);
  Position moving(walk, 0);
  for (Index i = 0; i <= 24; ++i, moving.next()) {  // behind the last comes the first
    const Position at_once(walk, i % 24);
    const Numbered at = {i % 24 / 12, i / 4 % 3, i % 4, 0};
    CAPTURE(i);
    for (const Position* const p : {&std::as_const(moving), &at_once}) {
      CHECK(Numbered(p->at, p->at + 4) == at);
      for (std::size_t o = 0; o < 2; ++o) {
        Index offset = 0;
        for (std::size_t d = 0; d < 3; ++d) offset += at[d] * strides[o][d];
        CHECK(p->offset[o] == offset);
      }
    }
  }
}

TEST_CASE("a copy is a transposition where another dimension of the source is contiguous",
          "[phase0][kernels]") {
  const auto transposed = [](const Numbered& size, const Numbered& from, const Numbered& to) {
    return walk_of(size, from, to).transposed();
  };
  CHECK(transposed({5, 3}, {1, 5}, {3, 1}) == 0);
  CHECK(transposed({5, 3}, {1, 2}, {3, 1}) == 0);
  CHECK(transposed({5, 3}, {1, -5}, {3, 1}) == 0);
  CHECK(transposed({2, 5, 3}, {50, 1, 9}, {15, 3, 1}) == 1);
  CHECK(transposed({2, 5, 3}, {1, 50, 9}, {15, 3, 1}) == 0);
  CHECK(transposed({2, 5, 3}, {40, 50, 9}, {15, 3, 1}) == -1);
  CHECK(transposed({5, 3}, {7, 1}, {3, 1}) == -1);
  CHECK(transposed({5, 3}, {1, 1}, {3, 1}) == -1);
  CHECK(transposed({5, 3}, {1, 0}, {3, 1}) == -1);  // repeated
  CHECK(transposed({5, 3}, {1, 5}, {6, 2}) == -1);  // the destination is not contiguous
  CHECK(transposed({5}, {1}, {1}) == -1);
}

}  // namespace tapestry::kernels
