// Shapes, axes, strides, and the rule by which shapes meet.
#include "tapestry/shape.hpp"

#include <algorithm>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"

using namespace tapestry;

TEST_CASE("a shape knows its sizes, from the front and from the back", "[phase0][shape]") {
  const Shape shape{2, 3, 5};
  CHECK(shape.ndim() == 3);
  CHECK(shape.numel() == 30);
  CHECK(shape[0] == 2);
  CHECK(shape[2] == 5);
  CHECK(shape[-1] == 5);
  CHECK(shape[-3] == 2);
  CHECK(std::vector<Index>(shape.begin(), shape.end()) == std::vector<Index>{2, 3, 5});
  CHECK(to_string(shape) == "(2, 3, 5)");
}

TEST_CASE("rank 0 is one number, and a size of 0 means none", "[phase0][shape]") {
  CHECK(Shape().ndim() == 0);
  CHECK(Shape().numel() == 1);
  CHECK(to_string(Shape()) == "()");
  CHECK(Shape{0}.numel() == 0);
  CHECK(Shape{3, 0, 2}.numel() == 0);
  CHECK(to_string(Shape{4}) == "(4)");
}

TEST_CASE("shapes are equal when all sizes are", "[phase0][shape]") {
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK(Shape{2, 3} != Shape{3, 2});
  CHECK(Shape{2} != Shape{2, 0});
  CHECK(Shape{} != Shape{0});
  CHECK(Shape{2, 3, 4}.removed(2) == Shape{2, 3});
}

TEST_CASE("an axis can be changed, inserted and removed", "[phase0][shape]") {
  const Shape shape{2, 3};
  CHECK(shape.with(-1, 7) == Shape{2, 7});
  CHECK(shape.inserted(0, 9) == Shape{9, 2, 3});
  CHECK(shape.inserted(1, 9) == Shape{2, 9, 3});
  CHECK(shape.inserted(2, 9) == Shape{2, 3, 9});
  CHECK(shape.inserted(-1, 9) == Shape{2, 3, 9});
  CHECK(shape.removed(0) == Shape{3});
  CHECK(shape.removed(-1) == Shape{2});
  CHECK(Shape{}.inserted(0, 4) == Shape{4});
  CHECK(Shape{4}.removed(0) == Shape{});
}

TEST_CASE("wrong shapes and axes are refused in words", "[phase0][shape]") {
  CHECK(complaint([] { Shape{1, 1, 1, 1, 1, 1, 1}; }, {"7 axes", "at most 6", "reshape"}) == "");
  CHECK(complaint([] { Shape{2, -3}; }, {"(2, -3)", "negative"}) == "");
  CHECK(complaint([] { Shape{1, 2}.with(0, -1); }, {"(-1, 2)", "negative"}) == "");
  CHECK(complaint([] { Shape{1, 1, 1, 1, 1, 1}.inserted(0, 1); }, {"7 axes"}) == "");
  CHECK(complaint([] { (void)Shape{2, 3}[2]; }, {"shape (2, 3)", "axis 2", "-2 to 1"}) == "");
  CHECK(complaint([] { (void)Shape{2, 3}[-3]; }, {"axis -3", "-2 to 1"}) == "");
  CHECK(complaint([] { (void)Shape{}[0]; }, {"axis 0", "there is none"}) == "");
  CHECK(complaint([] { Shape{2}.removed(1); }, {"axis 1"}) == "");
  CHECK(complaint([] { normalized_axis("sum", 4, 2); }, {"sum: axis 4", "rank 2"}) == "");
}

TEST_CASE("a shape that memory cannot hold is refused, wherever a 0 stands", "[phase0][shape]") {
  constexpr Index huge = Index{1} << 40;
  const std::initializer_list<const char*> words = {"more elements than memory can hold"};
  CHECK(complaint([] { Shape{huge, huge}; }, words) == "");
  CHECK(complaint([] { Shape{huge, huge, 0}; }, words) == "");
  CHECK(complaint([] { Shape{0, huge, huge}; }, words) == "");
  CHECK(Shape{huge, 2}.numel() == 2 * huge);
  constexpr Index most = (Index{1} << 59) - 1;
  CHECK(Shape{1, most, 0}.numel() == 0);
  CHECK(Shape{most}.numel() == most);
  CHECK(complaint([] { Shape{most + 1}; }, words) == "");
}

TEST_CASE("row-major strides step over everything that follows", "[phase0][shape]") {
  const Strides strides = row_major({2, 3, 5});
  CHECK(strides[0] == 15);
  CHECK(strides[1] == 5);
  CHECK(strides[2] == 1);
  CHECK(row_major({7})[0] == 1);
}

TEST_CASE("negative axes count from the back", "[phase0][shape]") {
  CHECK(normalized_axis("sum", 0, 3) == 0);
  CHECK(normalized_axis("sum", 2, 3) == 2);
  CHECK(normalized_axis("sum", -1, 3) == 2);
  CHECK(normalized_axis("sum", -3, 3) == 0);
}

namespace {

// Every shape of up to three axes with sizes 0 to 3, as lists from the last axis to the first.
std::vector<std::vector<Index>> small_shapes() {
  std::vector<std::vector<Index>> shapes = {{}};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].size() == 3) continue;
    for (Index size = 0; size <= 3; ++size) {
      std::vector<Index> longer = shapes[i];
      longer.push_back(size);
      shapes.push_back(longer);
    }
  }
  return shapes;
}

Shape from_back(const std::vector<Index>& sizes) {
  const std::vector<Index> forward(sizes.rbegin(), sizes.rend());
  return Shape(std::span<const Index>(forward));
}

// NumPy's rule, said again: pad with ones, then equal sizes or a 1. Empty first if they clash.
std::pair<bool, std::vector<Index>> meet(std::vector<Index> a, std::vector<Index> b) {
  const std::size_t rank = std::max(a.size(), b.size());
  a.resize(rank, 1);
  b.resize(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    if (a[i] == 1) a[i] = b[i];
    if (b[i] != 1 && a[i] != b[i]) return {false, {}};
  }
  return {true, a};
}

}  // namespace

TEST_CASE("broadcasting follows NumPy's rule for all small shapes", "[phase0][shape]") {
  const std::vector<std::vector<Index>> shapes = small_shapes();
  REQUIRE(shapes.size() == 85);
  int met = 0, clashed = 0;
  for (const std::vector<Index>& a : shapes) {
    for (const std::vector<Index>& b : shapes) {
      const auto [fits, expected] = meet(a, b);
      try {
        const Shape result = broadcast_shapes("test", from_back(a), from_back(b));
        if (fits && result == from_back(expected)) ++met;
      } catch (const Error&) {
        if (!fits) ++clashed;
      }
    }
  }
  CHECK(met + clashed == 85 * 85);
  CHECK(met > 1000);
  CHECK(clashed > 1000);
}

TEST_CASE("shapes that clash name the axis and both sizes", "[phase0][shape]") {
  CHECK(complaint([] { broadcast_shapes("add", {4, 2, 3}, {5, 3}); },
                  {"add:", "a is (4, 2, 3)", "b is (5, 3)", "axis -2", "2 and 5", "equal", "1"}) ==
        "");
  CHECK(complaint([] { broadcast_shapes("add", {0}, {3}); }, {"axis -1", "0 and 3"}) == "");
}

TEST_CASE("one shape broadcasts to another if only ones change", "[phase0][shape]") {
  CHECK(broadcasts_to({}, {2, 3}));
  CHECK(broadcasts_to({3}, {2, 3}));
  CHECK(broadcasts_to({2, 1}, {2, 3}));
  CHECK(broadcasts_to({1}, {0}));
  CHECK(!broadcasts_to({2, 3}, {3}));
  CHECK(!broadcasts_to({2}, {2, 3}));
  CHECK(!broadcasts_to({0}, {1}));
  CHECK(!broadcasts_to({3}, {1}));
}
