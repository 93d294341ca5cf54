// Copies, gathers and scatters against plain loops over every index.
#include "kernels/strided.hpp"

#include <cmath>
#include <cstring>

#include "kernels/kernel_test.hpp"

namespace tapestry::kernels {
namespace {

// Copies with `copy` and one number at a time, and compares all of the destination.
void check_copy(const std::vector<Index>& size, const std::vector<Index>& from_strides,
                const std::vector<Index>& to_strides, Index from_start, Index from_size,
                Index to_size) {
  const std::vector<real> from = Numbers(11).some(from_size);
  Guarded to(std::vector<real>(std::size_t(to_size), real(-3)), 1);
  std::vector<real> want(std::size_t(to_size), real(-3));
  Sizes sizes;
  for (Index n : size) sizes.size[sizes.rank++] = n;
  REQUIRE(sizes.rank == static_cast<int>(size.size()));
  for (Index i = 0; i < sizes.numel(); ++i) {
    Index rest = i, from_at = from_start, to_at = 0;
    for (int d = sizes.rank - 1; d >= 0; --d) {
      from_at += rest % sizes.size[d] * from_strides[std::size_t(d)];
      to_at += rest % sizes.size[d] * to_strides[std::size_t(d)];
      rest /= sizes.size[d];
    }
    want[std::size_t(to_at)] = from[std::size_t(from_at)];
  }
  copy(sizes, from.data() + from_start, from_strides.data(), to.data(), to_strides.data());
  REQUIRE(to.intact());
  REQUIRE(first_apart(to.values(), want, 0, 0) == -1);
}

}  // namespace

TEST_CASE("copy: contiguous, sliced, single and empty", "[phase0][kernels]") {
  CHECK(Sizes{}.numel() == 1);
  check_copy({}, {}, {}, 0, 1, 1);
  check_copy({7}, {1}, {1}, 0, 7, 7);
  check_copy({3, 4}, {4, 1}, {4, 1}, 0, 12, 12);
  check_copy({3, 4}, {9, 1}, {4, 1}, 2, 30, 12);
  check_copy({3, 4}, {9, 2}, {4, 1}, 1, 30, 12);
  check_copy({3, 4}, {4, 1}, {11, 2}, 0, 12, 40);
  check_copy({3, 0}, {1, 1}, {1, 1}, 0, 1, 1);
  check_copy({0, 3}, {1, 1}, {1, 1}, 0, 1, 1);
  check_copy({1, 5, 1}, {77, 1, 99}, {5, 1, 1}, 0, 5, 5);
}

TEST_CASE("copy: repeated and reversed sources", "[phase0][kernels]") {
  check_copy({4, 5}, {0, 1}, {5, 1}, 0, 5, 20);
  check_copy({4, 5}, {1, 0}, {5, 1}, 0, 4, 20);
  check_copy({4, 5}, {0, 0}, {5, 1}, 0, 1, 20);
  check_copy({6}, {-1}, {1}, 5, 6, 6);
  check_copy({3, 4}, {-4, 1}, {4, 1}, 8, 12, 12);
  check_copy({3, 4}, {-4, -1}, {4, 1}, 11, 12, 12);
}

TEST_CASE("copy: transpositions of every kind", "[phase0][kernels]") {
  check_copy({3, 5}, {1, 3}, {5, 1}, 0, 15, 15);
  check_copy({33, 49}, {1, 33}, {49, 1}, 0, 33 * 49, 33 * 49);
  check_copy({16, 64}, {1, 17}, {64, 1}, 0, 17 * 64, 16 * 64);
  check_copy({2, 17, 19}, {323, 1, 17}, {323, 19, 1}, 0, 646, 646);
  check_copy({17, 2, 19}, {1, 323, 17}, {38, 19, 1}, 0, 646, 646);
  check_copy({5, 3, 7, 2}, {1, 5, 15, 105}, {42, 14, 2, 1}, 0, 210, 210);
  check_copy({3, 5}, {5, 1}, {1, 3}, 0, 15, 15);  // into a transposed destination
  check_copy({3, 5}, {1, 3}, {11, 2}, 0, 15, 40);
  check_copy({2, 3, 2, 3, 2, 3}, {1, 2, 6, 12, 36, 72}, {108, 36, 18, 6, 3, 1}, 0, 216, 216);
  check_copy({300, 210}, {1, 300}, {210, 1}, 0, 63000, 63000);  // shared among threads
}

TEST_CASE("gather_rows and scatter_sum_rows", "[phase0][kernels]") {
  const std::vector<real> table = {1, 2, 3, 4, 5, 6};  // three rows of two
  const std::int32_t ids[] = {2, 0, 2, 2, 1};          // the last one is not asked for
  Guarded y(8, 1), one_wide(4, 1);
  gather_rows(table.data(), ids, 4, 2, y.data());
  CHECK(y.values() == std::vector<real>{5, 6, 1, 2, 5, 6, 5, 6});
  CHECK(y.intact());
  gather_rows(table.data(), ids, 4, 1, one_wide.data());
  CHECK(one_wide.values() == std::vector<real>{3, 1, 3, 3});
  CHECK(one_wide.intact());
  std::vector<real> d_table;
  for (const Table* set : usable_sets()) {
    const Using scope(*set);
    d_table.assign(6, 10);
    scatter_sum_rows(y.data(), ids, 4, 2, d_table.data(), 3);
    CHECK(d_table == std::vector<real>{1, 2, 0, 0, 15, 18});
  }
  gather_rows(table.data(), ids, 0, 2, nullptr);
  gather_rows(table.data(), ids, 4, 0, nullptr);
  scatter_sum_rows(nullptr, ids, 0, 2, d_table.data(), 2);
  CHECK(d_table == std::vector<real>{0, 0, 0, 0, 15, 18});
  scatter_sum_rows(nullptr, ids, 4, 0, nullptr, 3);
  scatter_sum_rows(nullptr, nullptr, 0, 2, nullptr, 0);
}

TEST_CASE("scatter_sum_rows adds in the order of places, whatever the rows", "[phase0][kernels]") {
  for (const Index rows : {1, 2, 7, 300}) {
    for (const Index width : {1, 17}) {
      constexpr Index count = 1000;
      std::vector<std::int32_t> ids;
      for (Index i = 0; i < count; ++i) {
        ids.push_back(std::int32_t(i % 3 == 0 ? rows - 1 : i * i % 11 % rows));
      }
      std::vector<real> dy = Numbers(5).some(count * width);
      dy[0] = real(-0.0);
      std::vector<real> want(std::size_t(rows * width)), sums(want.size(), real(7));
      for (Index i = 0; i < count; ++i) {
        for (Index c = 0; c < width; ++c) {
          want[std::size_t(ids[std::size_t(i)] * width + c)] += dy[std::size_t(i * width + c)];
        }
      }
      scatter_sum_rows(dy.data(), ids.data(), count, width, sums.data(), rows);
      CAPTURE(rows, width);
      CHECK(std::memcmp(sums.data(), want.data(), sums.size() * sizeof(real)) == 0);
    }
  }
}

TEST_CASE("a row that one place of -0 names is 0", "[phase0][kernels]") {
  const std::int32_t id = 0;
  const real dy = real(-0.0);
  real sum = 5;
  scatter_sum_rows(&dy, &id, 1, 1, &sum, 1);
  CHECK(sum == 0);
  CHECK_FALSE(std::signbit(sum));
}

TEST_CASE("gather and scatter_add along a middle axis", "[phase0][kernels]") {
  const std::vector<real> x = Numbers(1).some(2 * 5 * 3);
  std::vector<std::int32_t> index;
  for (int i = 0; i < 3 * 4 * 3; ++i) index.push_back(i * 7 % 5);  // some are not asked for
  Guarded y(2 * 4 * 3, 1), dx(std::vector<real>(x.size(), real(0.5)), 1);
  std::vector<real> want(x.size(), real(0.5));
  gather(x.data(), 2, 5, 3, index.data(), 4, y.data());
  scatter_add(y.data(), 2, 5, 3, index.data(), 4, dx.data());
  CHECK((y.intact() && dx.intact()));
  bool right = true;
  for (int o = 0; o < 2; ++o) {
    for (int p = 0; p < 4; ++p) {
      for (int i = 0; i < 3; ++i) {
        const auto e = std::size_t((o * 4 + p) * 3 + i);
        const auto at = std::size_t((o * 5 + index[e]) * 3 + i);
        right = right && y.values()[e] == x[at];
        want[at] += y.values()[e];
      }
    }
  }
  CHECK(right);
  CHECK(dx.values() == want);
}

}  // namespace tapestry::kernels
