// Paths that kernels take at some sizes only, and numbers at the ends of their range: every usable
// set against the reference.
#include <cfenv>

#include "kernels/kernel_test.hpp"

namespace tapestry::kernels {
namespace {

constexpr double one_step = 1.2e-7;

// Rows of several kinds in turn: ordinary; far from 0; one number that outdoes all; nothing seen;
// numbers too small for exp to tell apart; some so low that their share is below any float.
std::vector<real> extreme_rows(Index rows, Index n) {
  Numbers numbers(std::uint64_t(rows * n + 1));
  std::vector<real> all;
  for (Index r = 0; r < rows; ++r) {
    std::vector<real> row = numbers.some(n, -8, 8);
    for (Index i = 0; i < n; ++i) {
      real& x = row[std::size_t(i)];
      if (r % 6 == 1) x += r % 4 == 1 ? real(30000) : real(-30000);
      if (r % 6 == 2 && i == r % n) x = real(3e38);
      if (r % 6 == 3) x = -inf;
      if (r % 6 == 4) x *= real(1e-39);
      if (r % 6 == 5 && i % 2 == 1) x -= real(i % 4 == 1 ? 66 : 96);
    }
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

// |got - want| <= tolerance * the largest |want|
Index apart_by_size(const std::vector<real>& got, const std::vector<real>& want, double tolerance) {
  double largest = 0;
  for (const real w : want) largest = std::max(largest, std::abs(double(w)));
  return first_apart(got, want, 0, tolerance * largest);
}

struct ReduceRow {
  const char* name;
  Reduce Table::* entry;
  double low, high;  // on one side of 0, where what a block starts from would show
};
const ReduceRow reduce_rows[] = {{"sum", &Table::sum, -1, 2},
                                 {"sum, both signs and all sizes", &Table::sum, -1e30, 1e30},
                                 {"max", &Table::max, -3, -1},
                                 {"min", &Table::min, 1, 3}};

}  // namespace

TEST_CASE("softmax and its kin: many rows, short and long, of extreme numbers",
          "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const Index rows : {0, 1, 2, 3, 16, 17, 40}) {
      for (const Index n : {1, 7, 255, 256, 257, 300, 512, 513, 4097}) {
        Guarded x(extreme_rows(rows, n), 1), y(rows * n, 2), want(rows * n, 0);
        CAPTURE(set->name, rows, n);
        set->softmax(x.data(), y.data(), rows, n);
        reference_set().softmax(x.data(), want.data(), rows, n);
        REQUIRE(first_apart(y.values(), want.values(), 1e-5, 1e-37) == -1);
        set->log_softmax(x.data(), y.data(), rows, n);
        reference_set().log_softmax(x.data(), want.data(), rows, n);
        REQUIRE(first_apart(y.values(), want.values(), 4 * one_step, 4 * one_step) == -1);
        Guarded z(rows, 3), want_z(rows, 0);
        set->logsumexp(x.data(), z.data(), rows, n);
        reference_set().logsumexp(x.data(), want_z.data(), rows, n);
        REQUIRE(first_apart(z.values(), want_z.values(), 4 * one_step, 4 * one_step) == -1);
        REQUIRE((y.intact() && z.intact()));
      }
    }
  }
}

TEST_CASE("shares too small for a float pass no denormal on their way", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    if (set == &reference_set()) continue;
    std::vector<real> x(83, real(-89)), y(83);
    x[50] = 0;
    for (std::size_t i = 60; i < 83; ++i) x[i] = real(-80) - real(i) / 3;
    for (const Rows kernel : {set->softmax, set->log_softmax}) {
      std::feclearexcept(FE_ALL_EXCEPT);
      kernel(x.data(), y.data(), 1, 83);
      CAPTURE(set->name, kernel == set->softmax);
      REQUIRE(std::fetestexcept(FE_UNDERFLOW) == 0);
      REQUIRE(y[50] == (kernel == set->softmax ? 1 : 0));
    }
    for (const Unary kernel : {set->of<Gelu>(), set->of<GeluTanh>(), set->of<Tanh>(),
                               set->of<Erf>(), set->of<Elu>(), set->of<Silu>()}) {
      for (const real at : {real(-13.5), real(-14), real(-100), real(-1e30)}) {
        std::fill(x.begin(), x.end(), at);
        std::feclearexcept(FE_ALL_EXCEPT);
        kernel(x.data(), y.data(), 83);
        CAPTURE(set->name, at);
        REQUIRE(std::fetestexcept(FE_UNDERFLOW) == 0);
        REQUIRE((y[0] == 0 || y[0] == -1 || kernel == set->of<Elu>() || kernel == set->of<Silu>()));
      }
    }
    const std::vector<real> ones(83, real(1));
    for (const UnaryBackward kernel :
         {set->backward_of<Gelu>(), set->backward_of<GeluTanh>(), set->backward_of<Silu>()}) {
      for (const real at : {real(-90), real(-1e30), real(90), real(1e30)}) {
        std::fill(x.begin(), x.end(), at);
        std::feclearexcept(FE_ALL_EXCEPT);
        kernel(ones.data(), x.data(), y.data(), 83);
        CAPTURE(set->name, at);
        REQUIRE(std::fetestexcept(FE_UNDERFLOW) == 0);
      }
    }
  }
  CHECK(true);  // where the reference is the only set
}

TEST_CASE("gradients of softmax and its kin: many rows, gradients large and small",
          "[phase0][kernels]") {
  const Index rows = 18;
  for (const Table* set : usable_sets()) {
    for (const Index n : {1, 7, 66, 257, 1000}) {
      for (const double scale : {1.0, 1e30, 1e-30}) {
        Guarded x(extreme_rows(rows, n), 1), y(rows * n, 2), log_y(rows * n, 3), sums(rows, 1);
        Guarded dy(Numbers(3).some(rows * n, -scale, scale), 1), dx(rows * n, 1), want(rows * n, 0);
        const auto right = [&] { return apart_by_size(dx.values(), want.values(), 4e-6) == -1; };
        reference_set().softmax(x.data(), y.data(), rows, n);
        reference_set().log_softmax(x.data(), log_y.data(), rows, n);
        reference_set().logsumexp(x.data(), sums.data(), rows, n);
        CAPTURE(set->name, n, scale);
        set->softmax_backward(dy.data(), y.data(), dx.data(), rows, n);
        reference_set().softmax_backward(dy.data(), y.data(), want.data(), rows, n);
        REQUIRE(right());
        set->log_softmax_backward(dy.data(), log_y.data(), dx.data(), rows, n);
        reference_set().log_softmax_backward(dy.data(), log_y.data(), want.data(), rows, n);
        REQUIRE(right());
        std::vector<std::int32_t> target;
        for (Index r = 0; r < rows; ++r) target.push_back(std::int32_t(r % 6 == 3 ? -1 : r % n));
        set->cross_entropy_backward(x.data(), sums.data(), target.data(), real(scale), dx.data(),
                                    rows, n);
        reference_set().cross_entropy_backward(x.data(), sums.data(), target.data(), real(scale),
                                               want.data(), rows, n);
        // A log_sum of 30,000 is rounded by 1e-3, and so is what is subtracted from the logits.
        REQUIRE(right());
        REQUIRE(dx.intact());
      }
    }
  }
}

TEST_CASE("reductions: long, narrow and wide ones, of numbers on one side of 0",
          "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const ReduceRow& row : reduce_rows) {
      for (const Index length : {64, 65, 130, 2048, 2049, 4100, 9000}) {
        for (const Index inner : {1, 3, 16, 64, 65, 2049, 4100}) {
          if (length * inner > 140000) continue;
          std::vector<real> values = Numbers(9).some(length * inner, row.low, row.high);
          for (std::size_t i = 0; row.high == 1e30 && i < values.size(); i += 2) {
            values[i] *= real(i % 3 == 0 ? 1e-38 : 1e-3);
          }
          Guarded x(values, length % 4), y(inner, 1), want(inner, 0);
          (set->*row.entry)(x.data(), 1, length, inner, y.data());
          (reference_set().*row.entry)(x.data(), 1, length, inner, want.data());
          CAPTURE(set->name, row.name, length, inner);
          double size = 0;  // of a sum's terms
          for (const real v : values) size += std::abs(double(v)) / double(inner);
          const double allowed = row.entry == &Table::sum ? 1e-6 * size : 0;
          REQUIRE(first_apart(y.values(), want.values(), 0, allowed) == -1);
          REQUIRE(y.intact());
        }
      }
    }
  }
}

TEST_CASE("columns of equal numbers are summed in blocks, which keeps six digits",
          "[phase0][kernels]") {
  constexpr Index length = 9000, inner = 65;
  const std::vector<real> x(std::size_t(length * inner), real(0.1));
  for (const Table* set : usable_sets()) {
    std::vector<real> y(std::size_t(inner), real(0));
    set->sum(x.data(), 1, length, inner, y.data());
    CAPTURE(set->name, y[0]);
    CHECK(first_apart(y, std::vector<real>(y.size(), real(0.1 * length)), 4e-6, 0) == -1);
  }
}

TEST_CASE("products of large and of small numbers", "[phase0][kernels]") {
  const Index sizes[][3] = {{3, 1, 40}, {1, 40, 33}, {20, 33, 70}, {20, 30, 600}};
  for (const Table* set : usable_sets()) {
    for (const auto& s : sizes) {
      const Index m = s[0], n = s[1], k = s[2];
      for (const double scale : {1e18, 1e-17}) {  // products of 1e36 and 1e-34
        std::vector<real> a = Numbers(1).some(m * k, -scale, scale);
        for (std::size_t i = 0; i < a.size(); i += 3) a[i] *= real(1e-6);
        Guarded b(Numbers(2).some(k * n, -scale, scale), 1), c(m * n, 2), want(m * n, 0);
        CAPTURE(set->name, m, n, k, scale);
        for (const bool turned : {false, true}) {
          const Index row = turned ? 1 : n, column = turned ? k : 1;
          set->matmul(m, n, k, a.data(), k, 1, b.data(), row, column, c.data(), n);
          reference_set().matmul(m, n, k, a.data(), k, 1, b.data(), row, column, want.data(), n);
          REQUIRE(first_apart(c.values(), want.values(), 0, 1e-6 * scale * scale * double(k)) ==
                  -1);
          REQUIRE(c.intact());
        }
      }
    }
  }
}

}  // namespace tapestry::kernels
