// Reductions, softmax and its kin, layer normalisation, cross entropy: every usable set against
// the reference, and against what infinities and empty rows must give. NaN: nan_test.cpp.
#include "kernels/kernel_test.hpp"

namespace tapestry::kernels {
namespace {

constexpr double one_step = 1.2e-7;

struct RowsRow {
  const char* name;
  Rows Table::* entry;
};
const RowsRow rows_rows[] = {{"softmax", &Table::softmax}, {"log_softmax", &Table::log_softmax}};

struct RowsBackwardRow {
  const char* name;
  RowsBackward Table::* entry;
};
const RowsBackwardRow rows_backward_rows[] = {
    {"softmax_backward", &Table::softmax_backward},
    {"log_softmax_backward", &Table::log_softmax_backward}};

struct ReduceRow {
  const char* name;
  Reduce Table::* entry;
};
const ReduceRow reduce_rows[] = {{"sum", &Table::sum}, {"max", &Table::max}, {"min", &Table::min}};

std::vector<real> run(const Table& set, Rows Table::* entry, std::vector<real> x, Index rows) {
  (set.*entry)(x.data(), x.data(), rows, Index(x.size()) / rows);
  return x;
}

}  // namespace

TEST_CASE("softmax and log_softmax agree with the reference", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const RowsRow& row : rows_rows) {
      for (Index n : lengths) {
        for (Index offset = 0; offset < 4; ++offset) {
          Numbers numbers{std::uint64_t(n)};
          std::vector<real> x = numbers.some(3 * n, -30, 30);
          for (Index i = 0; i < n; ++i) {
            if (i % 3 == 0) x[std::size_t(n + i)] = -inf;       // a masked row
            if (offset == 3) x[std::size_t(2 * n + i)] = -inf;  // a row that sees nothing
          }
          Guarded in(x, offset), out(3 * n, (offset + 1) % 4), want(3 * n, 0);
          (set->*row.entry)(in.data(), out.data(), 3, n);
          (reference_set().*row.entry)(in.data(), want.data(), 3, n);
          const double absolute = row.entry == &Table::softmax ? 1e-40 : 4 * one_step;
          const Index apart = first_apart(out.values(), want.values(), 20 * one_step, absolute);
          CAPTURE(set->name, row.name, n, offset, apart);
          REQUIRE(apart == -1);
          REQUIRE(out.intact());
          (set->*row.entry)(in.data(), in.data(), 3, n);
          REQUIRE(first_apart(in.values(), out.values(), 0, 0) == -1);
        }
      }
    }
  }
}

TEST_CASE("softmax of a row with +inf is NaN, of nothing but -inf zero", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (Index n : {1, 5, 16, 33}) {
      const std::vector<real> all_nan(std::size_t(n), nan), nothing(std::size_t(n), -inf);
      const std::vector<real> zeros(std::size_t(n), real(0));
      real y = 0;
      for (Index at = 0; at < n; at += 4) {
        CAPTURE(set->name, n, at);
        std::vector<real> x(std::size_t(n), real(1));
        x[std::size_t(at)] = inf;
        REQUIRE(first_apart(run(*set, &Table::softmax, x, 1), all_nan, 0, 0) == -1);
        REQUIRE(first_apart(run(*set, &Table::log_softmax, x, 1), all_nan, 0, 0) == -1);
        set->logsumexp(x.data(), &y, 1, n);
        REQUIRE(y == inf);
      }
      CAPTURE(set->name, n);
      REQUIRE(first_apart(run(*set, &Table::softmax, nothing, 1), zeros, 0, 0) == -1);
      REQUIRE(first_apart(run(*set, &Table::log_softmax, nothing, 1), nothing, 0, 0) == -1);
      set->logsumexp(nothing.data(), &y, 1, n);
      REQUIRE(y == -inf);
    }
  }
}

TEST_CASE("rows that see nothing, after rows that see one number", "[phase0][kernels]") {
  constexpr Index rows = 32, n = 5;  // those with a number are the first of a group of 16
  for (const Table* set : usable_sets()) {
    std::vector<real> x(std::size_t(rows * n), -inf);
    for (Index r = 0; r < rows / 2; ++r) x[std::size_t(r * n)] = 7;
    std::vector<real> want(x.size(), -inf);
    for (Index r = 0; r < rows / 2; ++r) want[std::size_t(r * n)] = 0;
    CAPTURE(set->name);
    CHECK(run(*set, &Table::log_softmax, x, rows) == want);
  }
}

TEST_CASE(
    "shares of softmax are kept down to 0.71 of the least normal float, below that they are 0",
    "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    const auto share = [&](real x) { return run(*set, &Table::softmax, {0, x}, 1)[1]; };
    CAPTURE(set->name);
    CHECK(close(share(real(-87.33f)), real(std::exp(-87.33)), 1e-5, 0));
    if (set == &reference_set()) continue;
    // Down to 126.5 log(1/2) = -87.68 a denormal, below it 0.
    for (const real below : {real(-87.5), real(-87.68)}) {
      CHECK(close(share(below), real(std::exp(double(below))), 1e-5, 0));
    }
    for (const real far : {real(-87.69), real(-88), real(-89), real(-1e30), -inf})
      CHECK(share(far) == 0);
  }
}

TEST_CASE("lanes are added up by halves: what stands half a batch apart comes first",
          "[phase0][kernels]") {
  constexpr real large = 1 << 25;  // beside which 1 is lost
  const auto sum = [](const Table& set, std::vector<real> x) {
    real y = 0;
    set.sum(x.data(), 1, Index(x.size()), 1, &y);
    return y;
  };
  for (const Table* set : usable_sets()) {
    CAPTURE(set->name);
    CHECK(sum(*set, {large, 1, -large, 0}) == 1);
    if (std::string(set->name) != "avx512") continue;
    std::vector<real> x(16, real(0));
    x[0] = large, x[4] = 1, x[8] = -large;
    CHECK(sum(*set, x) == 1);
  }
}

TEST_CASE("softmax does not overflow and sums to one", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    const std::vector<real> y = run(*set, &Table::softmax, {1000, 1001, 1002, -1000}, 1);
    CAPTURE(set->name);
    // exp(-2), exp(-1), 1 over their sum
    CHECK(first_apart(y, {real(0.09003057), real(0.24472847), real(0.66524096), 0}, 1e-6, 0) == -1);
    CHECK(std::abs(y[0] + y[1] + y[2] + y[3] - 1) <= real(2e-7));
  }
}

TEST_CASE("logsumexp agrees with the reference", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (Index n : lengths) {
      Guarded x(Numbers(7).some(5 * n, -90, 90), 1), out(5, 1), want(5, 0);
      set->logsumexp(x.data(), out.data(), 5, n);
      reference_set().logsumexp(x.data(), want.data(), 5, n);
      CAPTURE(set->name, n);
      REQUIRE(first_apart(out.values(), want.values(), 4 * one_step, 4 * one_step) == -1);
      REQUIRE(out.intact());
    }
  }
}

TEST_CASE("gradients of softmax and log_softmax agree with the reference", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const RowsBackwardRow& row : rows_backward_rows) {
      for (Index n : lengths) {
        Guarded dy(Numbers(3).some(3 * n, -2, 2), 1), y(Numbers(4).some(3 * n, -3, 0), 2);
        Guarded out(3 * n, 3), want(3 * n, 0);
        (set->*row.entry)(dy.data(), y.data(), out.data(), 3, n);
        (reference_set().*row.entry)(dy.data(), y.data(), want.data(), 3, n);
        CAPTURE(set->name, row.name, n);
        const double absolute = one_step * 8 * std::sqrt(double(n + 1));
        REQUIRE(first_apart(out.values(), want.values(), 8 * one_step, absolute) == -1);
        REQUIRE(out.intact());
      }
    }
  }
}

TEST_CASE("reductions agree with the reference along any axis", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const ReduceRow& row : reduce_rows) {
      for (Index length : lengths) {
        for (Index inner : {1, 2, 3, 15, 16, 17, 35}) {
          Guarded x(Numbers(9).some(2 * length * inner), length % 4), out(2 * inner, inner % 4);
          Guarded want(2 * inner, 0);
          (set->*row.entry)(x.data(), 2, length, inner, out.data());
          (reference_set().*row.entry)(x.data(), 2, length, inner, want.data());
          CAPTURE(set->name, row.name, length, inner);
          const double absolute = row.entry == &Table::sum ? one_step * double(length) : 0;
          REQUIRE(first_apart(out.values(), want.values(), 0, absolute) == -1);
          REQUIRE(out.intact());
        }
      }
    }
  }
}

TEST_CASE("four chains of additions take turns", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    const std::string name = set->name;
    const Index lanes = name == "avx512" ? 16 : name == "avx2" ? 8 : 4;
    std::vector<real> x;  // numbers that would be lost in one chain
    for (const double number : {1.0, 0.0, 1e20, -1e20}) {
      x.insert(x.end(), std::size_t(lanes), real(number));
    }
    real y = 0;
    set->sum(x.data(), 1, 4 * lanes, 1, &y);
    CAPTURE(name);
    CHECK(y == (set == &reference_set() ? 0 : real(lanes)));
  }
}

TEST_CASE("reductions of nothing give 0, -inf or inf", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    CAPTURE(set->name);
    real y[2] = {5, 5};
    set->sum(nullptr, 2, 0, 1, y);
    CHECK((y[0] == 0 && y[1] == 0));
    set->max(nullptr, 1, 0, 2, y);
    CHECK((y[0] == -inf && y[1] == -inf));
    set->min(nullptr, 2, 0, 1, y);
    CHECK((y[0] == inf && y[1] == inf));
  }
}

TEST_CASE("the sum of squares agrees with the reference, large and small", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (Index n : {0, 1, 3, 16, 67, 2048, 2049, 5000}) {
      for (double scale : {1.0, 1e-25, 1e25, 0.0}) {
        Guarded x(Numbers(2).some(n, -scale, scale), n % 4);
        const double got = set->sum_squares(x.data(), n);
        const double want = reference_set().sum_squares(x.data(), n);
        CAPTURE(set->name, n, scale, got, want);
        REQUIRE(std::abs(got - want) <= 2e-6 * want);
      }
    }
    std::vector<real> x(67, real(1));
    x[66] = -inf;
    CHECK(set->sum_squares(x.data(), 67) == inf);
  }
}

TEST_CASE("a row of log_softmax that saw nothing has no gradient", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (Index n : lengths) {
      Guarded dy(Numbers(3).some(2 * n), 1), y(std::vector<real>(std::size_t(2 * n), -inf), 2);
      for (Index i = n; i < 2 * n; ++i) y.data()[i] = i == n ? nan : -inf;
      Guarded dx(2 * n, 3);
      set->log_softmax_backward(dy.data(), y.data(), dx.data(), 2, n);
      CAPTURE(set->name, n);
      for (Index i = 0; i < n; ++i) REQUIRE(dx.data()[i] == 0);
      if (n > 0) REQUIRE(std::isnan(dx.data()[n]));
    }
  }
}

TEST_CASE("layer normalisation agrees with the reference", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (Index n : lengths) {
      if (n == 0) continue;
      Numbers numbers{std::uint64_t(n)};
      const auto x = numbers.some(4 * n, 2, 5), gain = numbers.some(n), bias = numbers.some(n);
      const auto dy = numbers.some(4 * n), before = numbers.some(4 * n);
      std::vector<real> results[2][5];
      for (int i = 0; i < 2; ++i) {
        const Table& table = i == 0 ? *set : reference_set();
        Guarded y(4 * n, 1), mean(8, 2), inverse(4, 3), dx(4 * n, 1);
        Guarded sums(before, 2);  // two blocks; added to, not overwritten
        table.layer_norm(x.data(), gain.data(), bias.data(), real(1e-2), y.data(), mean.data(),
                         inverse.data(), 4, n);
        table.layer_norm_backward(dy.data(), x.data(), gain.data(), mean.data(), inverse.data(),
                                  dx.data(), sums.data(), 4, n, 3);
        REQUIRE((y.intact() && mean.intact() && inverse.intact()));
        REQUIRE((dx.intact() && sums.intact()));
        for (Index r = 0; r < 8; r += 2) {  // the same mean may be another sum of two
          mean.data()[r] += mean.data()[r + 1];
          mean.data()[r + 1] = 0;
        }
        int k = 0;
        for (Guarded* g : {&y, &mean, &inverse, &dx, &sums}) {
          results[i][k++] = g->values();
        }
      }
      CAPTURE(set->name, n);
      for (int k = 0; k < 5; ++k) {
        CAPTURE(k);
        REQUIRE(first_apart(results[0][k], results[1][k], 4e-6, 4e-6) == -1);
      }
    }
  }
}

TEST_CASE("the gradient of cross entropy agrees with the reference", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (Index n : lengths) {
      if (n == 0) continue;
      Guarded logits(Numbers(2).some(3 * n, -9, 9), 1), log_sum(3, 0), out(3 * n, 2),
          want(3 * n, 0);
      const std::int32_t target[] = {0, -1, std::int32_t(n - 1)};  // the second row is ignored
      reference_set().logsumexp(logits.data(), log_sum.data(), 3, n);
      set->cross_entropy_backward(logits.data(), log_sum.data(), target, real(0.25), out.data(), 3,
                                  n);
      reference_set().cross_entropy_backward(logits.data(), log_sum.data(), target, real(0.25),
                                             want.data(), 3, n);
      CAPTURE(set->name, n);
      REQUIRE(first_apart(out.values(), want.values(), 8 * one_step, one_step) == -1);
      REQUIRE(out.intact());
      for (Index i = n; i < 2 * n; ++i) REQUIRE(out.data()[i] == 0);
    }
  }
}

}  // namespace tapestry::kernels
