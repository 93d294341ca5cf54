// Products of every usable set: all layouts of the operands, edge sizes, NaN and infinity, and the
// promise that an element's bits depend neither on the rows around it nor on threads.
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "kernels/kernel_test.hpp"
#include "kernels/parallel_all.hpp"
#include "threads.hpp"

namespace tapestry::kernels {
namespace {

// slanted: no stride is 1; repeated: one row, one column or one number is broadcast
enum class Layout { normal, sliced, transposed, slanted, repeated_row, repeated_column, repeated };
const Layout layouts[] = {Layout::normal,  Layout::sliced,       Layout::transposed,
                          Layout::slanted, Layout::repeated_row, Layout::repeated_column,
                          Layout::repeated};

// A matrix of random numbers in one of the layouts.
struct Operand {
  Index rows, columns, row = 0, column = 0;
  std::vector<real> memory;

  Operand(Index r, Index c, Layout layout, std::uint64_t seed) : rows(r), columns(c) {
    row = layout == Layout::transposed ? 1 : c;
    column = layout == Layout::transposed ? r : 1;
    if (layout == Layout::sliced) row = c + 3;
    if (layout == Layout::slanted) row = 2 * c + 1;
    if (layout == Layout::slanted) column = 2;
    if (layout == Layout::repeated_row || layout == Layout::repeated) row = 0;
    if (layout == Layout::repeated_column || layout == Layout::repeated) column = 0;
    const Index size = r == 0 || c == 0 ? 1 : (r - 1) * row + (c - 1) * column + 1;
    memory = Numbers(seed).some(size);
  }
  real at(Index i, Index j) const { return memory[std::size_t(i * row + j * column)]; }
};

// Each product differs from the exact sum by at most about k roundings of its largest terms.
double allowed(Index k) { return 2e-7 * double(k + 1); }

// Sums of equal terms grow with k, and so does each rounding of them.
double allowed(const Operand& a, const Operand& b) {
  const bool equal_terms = a.column == 0 && b.row == 0;
  return allowed(a.columns) * double(equal_terms ? std::max<Index>(1, a.columns) : 1);
}

void check_product(const Table& set, const Operand& a, const Operand& b) {
  const Index m = a.rows, n = b.columns, k = a.columns, c_row = n + 2;
  Guarded c(std::vector<real>(std::size_t(m * c_row), nan), m % 4);  // old contents must not count
  poison_scratch(nan);
  set.matmul(m, n, k, a.memory.data(), a.row, a.column, b.memory.data(), b.row, b.column, c.data(),
             c_row);
  CAPTURE(set.name, m, n, k, a.row, a.column, b.row, b.column);
  REQUIRE(c.intact());
  double worst = 0;
  bool gap_kept = true;
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) {
      double want = 0;
      for (Index p = 0; p < k; ++p) want += double(a.at(i, p)) * double(b.at(p, j));
      const double error = std::abs(double(c.data()[i * c_row + j]) - want);
      if (!(error <= worst)) worst = std::isnan(error) ? 1e9 : error;
    }
    for (Index j = n; j < c_row; ++j) gap_kept = gap_kept && std::isnan(c.data()[i * c_row + j]);
  }
  REQUIRE(worst <= allowed(a, b));
  REQUIRE(gap_kept);
}

std::vector<real> product(const Table& set, Index m, Index n, Index k, const std::vector<real>& a,
                          const std::vector<real>& b) {
  std::vector<real> c(std::size_t(m * n), nan);
  set.matmul(m, n, k, a.data(), k, 1, b.data(), n, 1, c.data(), n);
  return c;
}

}  // namespace

TEST_CASE("matmul: edge sizes", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (Index m : {0, 1, 2, 3, 5, 17, 65}) {
      for (Index n : {0, 1, 2, 3, 5, 17, 33, 65, 130}) {
        for (Index k : {0, 1, 2, 3, 17, 63}) {
          check_product(*set, Operand(m, k, Layout::normal, 1), Operand(k, n, Layout::normal, 2));
        }
      }
    }
  }
}

TEST_CASE("matmul: every layout of both operands", "[phase0][kernels]") {
  const Index sizes[][3] = {{1, 65, 17},  {65, 1, 63},    {5, 17, 63},  {17, 130, 65},
                            {130, 63, 5}, {65, 130, 130}, {65, 130, 3}, {33, 5, 7}};
  for (const Table* set : usable_sets()) {
    for (const auto& s : sizes) {
      for (Layout left : layouts) {
        for (Layout right : layouts) {
          check_product(*set, Operand(s[0], s[2], left, 3), Operand(s[2], s[1], right, 4));
        }
      }
    }
  }
}

TEST_CASE("matmul: larger than the cache blocks", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    check_product(*set, Operand(37, 2200, Layout::normal, 5), Operand(2200, 67, Layout::sliced, 6));
    check_product(*set, Operand(900, 40, Layout::transposed, 5),
                  Operand(40, 35, Layout::normal, 6));
    check_product(*set, Operand(517, 530, Layout::transposed, 5),
                  Operand(530, 70, Layout::normal, 6));
    check_product(*set, Operand(100, 530, Layout::normal, 5), Operand(530, 301, Layout::normal, 6));
    check_product(*set, Operand(3, 40, Layout::normal, 5), Operand(40, 4500, Layout::normal, 6));
    check_product(*set, Operand(100, 530, Layout::transposed, 5),
                  Operand(530, 300, Layout::transposed, 6));
    check_product(*set, Operand(50, 530, Layout::normal, 5), Operand(530, 801, Layout::normal, 6));
    check_product(*set, Operand(1030, 40, Layout::normal, 5), Operand(40, 70, Layout::sliced, 6));
    check_product(*set, Operand(7, 300, Layout::slanted, 5), Operand(300, 900, Layout::normal, 6));
  }
}

TEST_CASE("matmul: one row times a matrix larger than a cache block", "[phase0][kernels]") {
  const Index sizes[][2] = {{7, 70001}, {8, 35011}, {9, 30001}, {531, 499}, {2048, 65}};  // k, n
  for (const Table* set : usable_sets()) {
    for (const auto& s : sizes) {
      for (Layout left : layouts) {
        for (Layout right : {Layout::normal, Layout::sliced, Layout::slanted}) {
          check_product(*set, Operand(1, s[0], left, 7), Operand(s[0], s[1], right, 8));
        }
      }
      const std::vector<real> a = Numbers(7).some(2 * s[0]), b = Numbers(8).some(s[0] * s[1]);
      const std::vector<real> two = product(*set, 2, s[1], s[0], a, b);
      const std::vector<real> one = product(*set, 1, s[1], s[0], a, b);
      CAPTURE(set->name, s[0], s[1]);
      REQUIRE(std::equal(one.begin(), one.end(), two.begin()));
    }
  }
}

TEST_CASE("matmul: nothing behind the operands is read", "[phase0][kernels]") {
  const Index sizes[][3] = {{9, 1, 20},  {1, 9, 21},   {17, 33, 7}, {18, 17, 3},  {3, 5, 2},
                            {65, 1, 33}, {70, 300, 9}, {1, 1, 5},   {1, 700, 501}};
  for (const Table* set : usable_sets()) {
    for (const auto& [m, n, k] : sizes) {
      for (const Layout left : layouts) {
        for (const Layout right : layouts) {
          const Operand a(m, k, left, 1), b(k, n, right, 2);
          const AtTheEnd at_a(a.memory), at_b(b.memory);
          std::vector<real> c(std::size_t(m * n)), want(c);
          set->matmul(m, n, k, at_a.data(), a.row, a.column, at_b.data(), b.row, b.column, c.data(),
                      n);
          reference_set().matmul(m, n, k, a.memory.data(), a.row, a.column, b.memory.data(), b.row,
                                 b.column, want.data(), n);
          CAPTURE(set->name, m, n, k, int(left), int(right));
          REQUIRE(first_apart(c, want, 0, allowed(a, b)) == -1);
        }
      }
    }
  }
}

TEST_CASE("matmul: NaN and infinity reach their row or column, and no other", "[phase0][kernels]") {
  const Index m = 19, n = 37, k = 21;
  for (const Table* set : usable_sets()) {
    for (real poison : {nan, inf}) {
      std::vector<real> a(std::size_t(m * k), real(1)), b(std::size_t(k * n), real(0));
      a[std::size_t(7 * k + 20)] = poison;  // inf * 0 is NaN too: no product may be skipped
      std::vector<real> c = product(*set, m, n, k, a, b);
      CAPTURE(set->name, poison);
      for (Index i = 0; i < m; ++i) {
        for (Index j = 0; j < n; ++j) REQUIRE(std::isnan(c[std::size_t(i * n + j)]) == (i == 7));
      }
      a.assign(a.size(), real(0));
      b[std::size_t(3 * n + 36)] = poison;
      c = product(*set, m, n, k, a, b);
      for (Index i = 0; i < m; ++i) {
        for (Index j = 0; j < n; ++j) REQUIRE(std::isnan(c[std::size_t(i * n + j)]) == (j == 36));
      }
    }
  }
}

TEST_CASE("matmul: bits do not depend on the band of rows", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (Index n : {1, 5, 40, 65, 200}) {
      const Index m = 71, k = 801;
      const std::vector<real> a = Numbers(1).some(m * k), b = Numbers(2).some(k * n);
      const std::vector<real> whole = product(*set, m, n, k, a, b);
      for (Index band : {1, 2, 3, 13, 14, 50}) {
        for (Index i = 0; i + band <= m; i += band + 5) {
          std::vector<real> part(std::size_t(band * n), nan);
          set->matmul(band, n, k, a.data() + i * k, k, 1, b.data(), n, 1, part.data(), n);
          CAPTURE(set->name, n, band, i);
          const auto from = whole.begin() + i * n;
          REQUIRE(std::equal(part.begin(), part.end(), from));
        }
      }
    }
  }
}

TEST_CASE("matmul driver: batches, broadcasting, merged rows", "[phase0][kernels]") {
  struct Case {
    const char* what;
    std::vector<Index> batch, a_strides, b_strides;  // in matrices
  };
  const Case cases[] = {{"one", {}, {}, {}},
                        {"paired", {3}, {1}, {1}},
                        {"one b for all", {2, 3}, {3, 1}, {0, 0}},
                        {"one a for all", {3}, {0}, {1}},
                        {"outer product of batches", {2, 3}, {1, 0}, {0, 1}},
                        {"size one", {1, 4}, {9, 1}, {0, 0}},
                        {"empty", {3, 0}, {0, 1}, {0, 1}}};
  for (const Table* set : usable_sets()) {
    const Using scope(*set);
    for (const Case& c : cases) {
      for (Index m : {1, 4}) {
        const Index n = 5, k = 7;
        const std::vector<real> a = Numbers(1).some(9 * m * k), b = Numbers(2).some(9 * k * n);
        MatmulShape shape;
        shape.m = m;
        shape.n = n;
        shape.k = k;
        Index a_strides[max_ndim], b_strides[max_ndim];
        for (std::size_t d = 0; d < c.batch.size(); ++d) {
          shape.batch.size[shape.batch.rank] = c.batch[d];
          a_strides[shape.batch.rank] = c.a_strides[d] * m * k;
          b_strides[shape.batch.rank++] = c.b_strides[d] * k * n;
        }
        Guarded y(std::vector<real>(std::size_t(shape.batch.numel() * m * n), nan), 1);
        const Index a_row = m == 1 ? 12345 : k;  // of a single row it says nothing
        matmul(shape, {a.data(), a_strides, a_row, 1}, {b.data(), b_strides, n, 1}, y.data());
        CAPTURE(set->name, c.what, m);
        REQUIRE(y.intact());
        for (Index i = 0; i < shape.batch.numel(); ++i) {
          Index rest = i, a_at = 0, b_at = 0;
          for (int d = shape.batch.rank - 1; d >= 0; --d) {
            a_at += rest % shape.batch.size[d] * a_strides[d];
            b_at += rest % shape.batch.size[d] * b_strides[d];
            rest /= shape.batch.size[d];
          }
          std::vector<real> want(std::size_t(m * n));
          reference_set().matmul(m, n, k, a.data() + a_at, k, 1, b.data() + b_at, n, 1, want.data(),
                                 n);
          const std::vector<real> all = y.values();
          const std::vector<real> got(all.begin() + i * m * n, all.begin() + (i + 1) * m * n);
          REQUIRE(first_apart(got, want, 0, allowed(k)) == -1);
        }
      }
    }
  }
}

TEST_CASE("matmul driver: a batch whose rows have one stride is one product", "[phase0][kernels]") {
  static Index products, rows;
  Table counting = reference_set();
  counting.matmul = [](Index m, Index, Index, const real*, Index, Index, const real*, Index, Index,
                       real*, Index) {
    ++products;
    rows = m;
  };
  const Using scope(counting);
  const auto count = [](Index m, Index first, Index second, Index b_stride, Index size = 2,
                        Index other_size = 3) {
    const Index n = 5, k = 7, a_strides[] = {9, first, second, 9};
    const Index b_strides[] = {0, 0, b_stride, 9};  // the ends say nothing
    MatmulShape shape;
    shape.m = m;
    shape.n = n;
    shape.k = k;
    shape.batch.rank = 2;
    shape.batch.size[0] = size;
    shape.batch.size[1] = other_size;
    const std::vector<real> a(std::size_t(6 * m * k)), b(std::size_t(3 * k * n));
    std::vector<real> y(std::size_t(6 * m * n));
    const Index a_row = m == 1 ? 12345 : k;  // of a single row it says nothing
    products = 0;
    matmul(shape, {a.data(), a_strides + 1, a_row, 1}, {b.data(), b_strides + 1, n, 1}, y.data());
    return products;
  };
  CHECK(count(4, 84, 28, 0) == 1);
  CHECK(rows == 24);
  CHECK(count(1, 21, 7, 0) == 1);
  CHECK(rows == 6);
  CHECK(count(1, 7, 14, 0) == 6);    // rows stand in another order
  CHECK(count(4, 84, 28, 35) == 6);  // each has its own b
  CHECK(rows == 4);
  CHECK(count(4, 99, 28, 0, 1, 3) == 1);  // strides of size 1 say nothing, either
  CHECK(rows == 12);
  CHECK(count(4, 28, 99, 0, 3, 1) == 1);
  CHECK(rows == 12);
}

TEST_CASE("matmul driver: enough pieces for all threads, cut by columns first, or by rows",
          "[phase0][kernels]") {
  using Pieces = std::multiset<std::pair<Index, Index>>;  // rows, columns
  static Pieces pieces;
  static std::mutex mutex;
  Table counting = reference_set();
  counting.matmul = [](Index m, Index n, Index, const real*, Index, Index, const real*, Index,
                       Index, real*, Index) {
    const std::lock_guard lock(mutex);
    pieces.insert({m, n});
  };
  const Using scope(counting);
  const SmallWorkShared shared;
  use_threads(4);
  const auto cut = [](Index m, Index n, Index a_column, Index k = 2) {
    const std::vector<real> numbers(std::size_t(k * (m + n)));
    std::vector<real> y(std::size_t(m * n));
    MatmulShape shape;
    shape.m = m;
    shape.n = n;
    shape.k = k;
    while (threads_at_hand() == 1) std::this_thread::yield();  // whatever other tests have lost
    pieces.clear();
    matmul(shape, {numbers.data(), nullptr, a_column == 1 ? k : 1, a_column},
           {numbers.data(), nullptr, n, 1}, y.data());
    return pieces;
  };
  CHECK(cut(1000, 512, 1) == Pieces{{500, 256}, {500, 256}, {500, 256}, {500, 256}});
  CHECK(cut(64, 512, 1) == Pieces{{32, 256}, {32, 256}, {32, 256}, {32, 256}});
  CHECK(cut(63, 511, 1) == Pieces{{63, 511}});
  CHECK(cut(63, 1000, 1) == Pieces{{63, 320}, {63, 320}, {63, 360}});
  CHECK(cut(10, 4096, 1) == Pieces{{10, 1024}, {10, 1024}, {10, 1024}, {10, 1024}});
  CHECK(cut(128, 1024, 128) == Pieces{{32, 1024}, {32, 1024}, {32, 1024}, {32, 1024}});
  // Many rows, and a small b or columns that cannot be divided evenly.
  const Index small = 1 << 17;  // numbers of b
  CHECK(cut(1023, 512, 1) == Pieces{{511, 256}, {511, 256}, {512, 256}, {512, 256}});
  CHECK(cut(1024, 512, 1) == Pieces{{256, 512}, {256, 512}, {256, 512}, {256, 512}});
  CHECK(cut(1024, 512, 1, small / 512) == Pieces{{256, 512}, {256, 512}, {256, 512}, {256, 512}});
  CHECK(cut(1024, 512, 1, small / 512 + 1) ==
        Pieces{{512, 256}, {512, 256}, {512, 256}, {512, 256}});
  CHECK(cut(1024, 500, 1, small / 500 + 1) ==
        Pieces{{256, 500}, {256, 500}, {256, 500}, {256, 500}});
}

TEST_CASE("matmul: bits do not depend on the band, for any layout", "[phase0][kernels]") {
  const Index m = 110, n = 521;
  for (const Table* set : usable_sets()) {
    const Index k = set == &reference_set() ? 53 : 2030;  // deep: packs both operands
    for (Layout left : layouts) {
      for (Layout right : layouts) {
        const Operand a(m, k, left, 1), b(k, n, right, 2);
        std::vector<real> whole(std::size_t(m * n), nan), part(std::size_t(64 * n), nan);
        set->matmul(m, n, k, a.memory.data(), a.row, a.column, b.memory.data(), b.row, b.column,
                    whole.data(), n);
        bool same = true;
        for (Index band : {2, 7, 64}) {
          const Index i = 31, j = 64, columns = n - j;  // pieces as the driver cuts them
          set->matmul(band, columns, k, a.memory.data() + i * a.row, a.row, a.column,
                      b.memory.data() + j * b.column, b.row, b.column, part.data(), columns);
          for (Index r = 0; r < band; ++r) {
            same = same && std::equal(&part[std::size_t(r * columns)],
                                      &part[std::size_t(r * columns)] + columns,
                                      &whole[std::size_t((i + r) * n + j)]);
          }
        }
        CAPTURE(set->name, int(left), int(right));
        REQUIRE(same);
      }
    }
  }
}

TEST_CASE("matmul: a row times a transposed matrix has the bits of the matrix times a column",
          "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const Index k : {1, 2, 3, 17, 64}) {
      const Index n = 37;
      const std::vector<real> x = Numbers(1).some(k), b = Numbers(2).some(n * k);
      std::vector<real> row(std::size_t(n), nan), column = row;
      set->matmul(1, n, k, x.data(), k, 1, b.data(), 1, k, row.data(), n);
      set->matmul(n, 1, k, b.data(), k, 1, x.data(), 1, 1, column.data(), 1);
      CAPTURE(set->name, k);
      REQUIRE(row == column);
    }
  }
}

TEST_CASE("linear: the bits of matmul, add and the activation in turn", "[phase0][kernels]") {
  const Index sizes[][3] = {{0, 3, 2},       {1, 1, 1},       {3, 0, 4},      {5, 7, 0},
                            {1, 33, 20},     {7, 1, 33},      {19, 65, 7},    {33, 17, 40},
                            {50, 300, 70},   {100, 65, 1100}, {3, 1100, 130}, {1, 777, 333},
                            {49, 518, 514},                      // more than one block either way
                            {100, 300, 500}, {100, 520, 2100}};  // deep B, packed for few rows
  for (const Table* set : usable_sets()) {
    for (const auto& s : sizes) {
      const Index m = s[0], n = s[1], k = s[2], row = n + 3;
      const std::vector<real> a = Numbers(1).some(m * k), b = Numbers(2).some(k * n);
      const std::vector<real> bias = Numbers(3).some(n + 1);  // one more than is used
      if (set == &reference_set() && m * n * k > 1'000'000) continue;
      for (Unary f : {Unary(nullptr), set->of<Relu>(), set->of<Gelu>()}) {
        for (const bool with_bias : {true, false}) {
          std::vector<real> want(std::size_t(m * row), real(5)), want_y = want;
          set->matmul(m, n, k, a.data(), k, 1, b.data(), n, 1, want.data(), row);
          for (Index i = 0; i < m; ++i) {
            real* c = want.data() + i * row;
            if (with_bias) set->of<Add>()(c, 1, bias.data(), 1, c, n);
            if (f) f(c, want_y.data() + i * row, n);
          }
          Guarded c(std::vector<real>(std::size_t(m * row), real(5)), 1);
          Guarded y(std::vector<real>(std::size_t(m * row), real(5)), 2);
          const real* added = with_bias ? bias.data() : nullptr;
          set->linear(m, n, k, a.data(), k, 1, b.data(), n, 1, {added, f, y.data()}, c.data(), row);
          CAPTURE(set->name, m, n, k, with_bias);
          REQUIRE(c.intact());
          REQUIRE(y.intact());
          REQUIRE(first_apart(c.values(), want, 0, 0) == -1);
          REQUIRE(first_apart(y.values(), want_y, 0, 0) == -1);
          set->linear(m, n, k, a.data(), k, 1, b.data(), n, 1, {added, f, c.data()}, c.data(), row);
          REQUIRE(first_apart(c.values(), f ? want_y : want, 0, 0) == -1);  // in place
        }
      }
    }
  }
}

TEST_CASE("matmul and linear drivers: the same bits for any number of threads",
          "[phase0][kernels]") {
  const SmallWorkShared shared;
  const Index sizes[][3] = {{150, 70, 101}, {64, 800, 60},   {700, 513, 9},
                            {530, 66, 20},  {100, 301, 500}, {2, 70, 101}};
  for (const Table* set : usable_sets()) {
    const Using scope(*set);
    for (const auto& s : sizes) {
      MatmulShape shape;
      shape.m = s[0];
      shape.n = s[1];
      shape.k = s[2];
      for (Layout layout : layouts) {
        const Operand a(shape.m, shape.k, layout, 1), b(shape.k, shape.n, layout, 2);
        const std::vector<real> bias = Numbers(3).some(shape.n);
        std::vector<real> first, whole(std::size_t(shape.m * shape.n));
        set->matmul(shape.m, shape.n, shape.k, a.memory.data(), a.row, a.column, b.memory.data(),
                    b.row, b.column, whole.data(), shape.n);
        for (int threads : {1, 2, 3, 5, 8}) {
          use_threads(threads);
          std::vector<real> c(std::size_t(shape.m * shape.n), nan), y = c;
          const MatrixView left{a.memory.data(), nullptr, a.row, a.column};
          const MatrixView right{b.memory.data(), nullptr, b.row, b.column};
          matmul(shape, left, right, y.data());
          linear(shape, left, right, {bias.data(), set->of<Gelu>(), c.data()}, c.data());
          if (threads == 1) first = c;
          CAPTURE(set->name, threads, shape.m, shape.n, int(layout));
          CHECK(y == whole);
          CHECK(c == first);
        }
      }
    }
  }
}

}  // namespace tapestry::kernels
