// Layer normalisation where floats run short: rows far from 0, huge numbers, tiny deviations.
#include <cmath>

#include "kernels/kernel_test.hpp"

namespace tapestry::kernels {
namespace {

constexpr double one_step = std::numeric_limits<real>::epsilon();

// What a row becomes, its gradient by x, and its share of the gain's, in double from the same
// floats.
struct Exact {
  std::vector<double> y, dx, d_gain;
  double scale = 0;  // of the terms that dx is the difference of

  Exact(const std::vector<real>& x, const std::vector<real>& gain, const std::vector<real>& dy,
        double epsilon)
      : y(x.size()), dx(x.size()), d_gain(x.size()) {
    const double n = double(x.size());
    long double mean = 0, variance = 0, mean_g = 0, mean_gz = 0;
    for (real v : x) mean += v / n;
    for (real v : x) variance += (v - mean) * (v - mean) / n;
    const long double inverse = 1 / std::sqrt(variance + epsilon);
    for (std::size_t i = 0; i < x.size(); ++i) {
      y[i] = double((x[i] - mean) * inverse * gain[i]);
      mean_g += double(dy[i]) * gain[i] / n;
      scale = std::max(scale, double(inverse) * std::abs(double(dy[i]) * gain[i]));
      mean_gz += double(dy[i]) * gain[i] * (x[i] - mean) * inverse / n;
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      const long double z = (x[i] - mean) * inverse;
      dx[i] = double(inverse * (double(dy[i]) * gain[i] - mean_g - z * mean_gz));
      d_gain[i] = double(dy[i] * z);
    }
  }
};

// Largest errors of y, of dx as a share of its scale, and of the gradients of gain and bias, over
// some rows at once.
struct Errors {
  double y = 0, dx = 0, d_gain = 0, d_bias = 0;
};

void note(double& worst, double error) {
  if (!(error <= worst)) worst = error;
}

Errors errors(const Table& set, const std::vector<std::vector<real>>& rows, real epsilon) {
  const Index count = Index(rows.size()), n = Index(rows[0].size());
  Numbers numbers(3);
  const auto gain = numbers.some(n, 0.5, 2), dy = numbers.some(n);
  const std::vector<real> zeros(std::size_t(n), real(0));
  const auto room = [](Index size) { return std::vector<real>(std::size_t(size)); };
  std::vector<real> x, up, y = room(count * n), dx = y, mean = room(2 * count),
                           inverse = room(count), sums = room(2 * n);
  for (const auto& row : rows) {
    x.insert(x.end(), row.begin(), row.end());
    up.insert(up.end(), dy.begin(), dy.end());
  }
  set.layer_norm(x.data(), gain.data(), zeros.data(), epsilon, y.data(), mean.data(),
                 inverse.data(), count, n);
  set.layer_norm_backward(up.data(), x.data(), gain.data(), mean.data(), inverse.data(), dx.data(),
                          sums.data(), count, n, count);
  Errors worst;
  std::vector<double> d_gain(std::size_t(n), 0.0);
  for (Index r = 0; r < count; ++r) {
    const Exact exact(rows[std::size_t(r)], gain, dy, epsilon);
    for (std::size_t i = 0; i < std::size_t(n); ++i) {
      const std::size_t at = std::size_t(r * n) + i;
      note(worst.y, std::abs(y[at] - exact.y[i]));
      note(worst.dx, std::abs(dx[at] - exact.dx[i]) / exact.scale);
      d_gain[i] += exact.d_gain[i];
    }
  }
  for (std::size_t i = 0; i < std::size_t(n); ++i) {
    note(worst.d_gain, std::abs(sums[i] - d_gain[i]));
    note(worst.d_bias, std::abs(sums[std::size_t(n) + i] - double(count) * dy[i]));
  }
  return worst;
}

std::vector<real> row_at(double offset, double deviation, Index n, std::uint64_t seed) {
  std::vector<real> row;
  for (real v : Numbers(seed).some(n, -1.7, 1.7)) row.push_back(real(offset + deviation * v));
  return row;
}

}  // namespace

TEST_CASE("layer normalisation keeps its digits where rows lie far from 0", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (Index n : {2, 5, 16, 64, 67, 512, 4099}) {
      for (double offset : {0.0, 100.0, -1e4, 1e4, 1e6}) {
        const auto seed = std::uint64_t(n);
        const auto far = row_at(offset, 1, n, seed), near = row_at(0, 1, n, seed + 1);
        for (const bool far_first : {true, false}) {
          const Errors worst =
              errors(*set, {far_first ? far : near, far_first ? near : far}, real(1e-5));
          CAPTURE(set->name, n, offset, far_first, worst.y, worst.dx, worst.d_gain, worst.d_bias);
          CHECK(worst.y <= 4e-6);
          CHECK(worst.dx <= 2e-5);
          CHECK(worst.d_gain <= 4e-6);
          CHECK(worst.d_bias <= 4e-7);
        }
      }
    }
  }
}

TEST_CASE("layer normalisation of a row with one number far from the others", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const std::size_t place : {0, 1, 66}) {
      auto row = row_at(0, 1, 67, 9);
      row[place] = real(1e6);
      const Errors worst = errors(*set, {row}, real(1e-5));
      CAPTURE(set->name, place, worst.y, worst.dx);
      CHECK(worst.y <= 1e-5);
      row[place] = real(2.5e19);  // whose square is no float
      CHECK(errors(*set, {row, row_at(5, 2, 67, 1)}, real(1e-5)).y <= 1e-5);
    }
  }
}

// Kernels take differences from the mean of the first 16 numbers. Here it is 35 deviations away
// from the mean of all: without another pass the variance would lose three digits.
TEST_CASE("layer normalisation of a row that begins far from its mean", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (double beginning : {1e2, -1e4, 1e8}) {
      auto row = row_at(0, 1, 20011, 4);
      for (std::size_t i = 0; i < 16; ++i) row[i] += real(beginning);
      const Errors worst = errors(*set, {row, row_at(3, 1, 20011, 5), row}, real(1e-5));
      CAPTURE(set->name, beginning, worst.y, worst.dx, worst.d_gain);
      CHECK(worst.y <= 1e-4);
      CHECK(worst.dx <= 2e-5);
      CHECK(worst.d_gain <= 1e-4);
    }
  }
}

TEST_CASE("layer normalisation of numbers whose squares are no floats", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (Index n : {3, 16, 67}) {
      for (double size : {1e18, 7e19, 1e30, 1.5e38}) {
        const auto seed = std::uint64_t(n);
        const Errors worst =
            errors(*set, {row_at(0, 1, n, 1), row_at(size / 4, size, n, seed), row_at(5, 2, n, 2)},
                   real(1e-5));
        CAPTURE(set->name, n, size, worst.y, worst.dx, worst.d_gain, worst.d_bias);
        CHECK(worst.y <= 4e-6);
        CHECK(worst.dx <= 2e-5);
        CHECK(worst.d_gain <= 4e-6);
        CHECK(worst.d_bias <= 4e-7);
      }
    }
  }
}

TEST_CASE("layer normalisation of an overflowing row writes that row only", "[phase0][kernels]") {
  const Index n = 19;
  std::vector<real> x = row_at(2, 1, n, 1);
  const auto huge = row_at(0, sizeof(real) == 8 ? 1e200 : 1e30, n, 2);
  x.insert(x.end(), huge.begin(), huge.end());  // the last
  const std::vector<real> gain(19, real(1)), bias(19, real(0));
  for (const Table* set : usable_sets()) {
    Guarded y(2 * n, 1), mean(4, 2), inverse(2, 3), dx(2 * n, 1);
    Guarded sums(std::vector<real>(std::size_t(4 * n), real(0)), 2);
    set->layer_norm(x.data(), gain.data(), bias.data(), real(1e-5), y.data(), mean.data(),
                    inverse.data(), 2, n);
    set->layer_norm_backward(x.data(), x.data(), gain.data(), mean.data(), inverse.data(),
                             dx.data(), sums.data(), 2, n, 1);
    CAPTURE(set->name);
    CHECK((y.intact() && mean.intact() && inverse.intact()));
    CHECK((dx.intact() && sums.intact()));
  }
}

TEST_CASE("layer normalisation in place, overflowing rows among others", "[phase0][kernels]") {
  const Index n = 19;
  std::vector<real> x = row_at(2, 1, n, 1);
  const auto huge = row_at(0, sizeof(real) == 8 ? 1e200 : 1e30, n, 2), last = row_at(-7, 3, n, 3);
  x.insert(x.end(), huge.begin(), huge.end());
  x.insert(x.end(), last.begin(), last.end());
  const std::vector<real> gain(19, real(1)), bias(19, real(0));
  for (const Table* set : usable_sets()) {
    std::vector<real> y(x.size()), in_place = x, mean(6), inverse(3);
    set->layer_norm(x.data(), gain.data(), bias.data(), real(1e-5), y.data(), mean.data(),
                    inverse.data(), 3, n);
    set->layer_norm(in_place.data(), gain.data(), bias.data(), real(1e-5), in_place.data(),
                    mean.data(), inverse.data(), 3, n);
    CAPTURE(set->name);
    CHECK(first_apart(in_place, y, 0, 0) == -1);
    std::vector<real> dx(x.size()), over = x, sums(2 * std::size_t(n)), again(sums);
    set->layer_norm_backward(x.data(), x.data(), gain.data(), mean.data(), inverse.data(),
                             dx.data(), sums.data(), 3, n, 3);
    set->layer_norm_backward(over.data(), x.data(), gain.data(), mean.data(), inverse.data(),
                             over.data(), again.data(), 3, n, 3);
    CHECK(first_apart(over, dx, 0, 0) == -1);
    CHECK(first_apart(again, sums, 0, 0) == -1);
  }
}

TEST_CASE("equal numbers, however large, are normalised to the bias", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (double value : {0.0, 1e-30, 0.1, 12345.678, 1e8, 3e38}) {
      const Index n = 67;
      const std::vector<real> x(67, real(value)), gain(67, real(2)), bias(67, real(0.5));
      std::vector<real> y(x.size()), mean(2), inverse(1);
      set->layer_norm(x.data(), gain.data(), bias.data(), real(1e-5), y.data(), mean.data(),
                      inverse.data(), 1, n);
      CAPTURE(set->name, value);
      // A mean in double is not exact for doubles.
      if (sizeof(real) == 8 && set == &reference_set() && value > 1e30) continue;
      CHECK(first_apart(y, bias, 0, set == &reference_set() ? 1e-3 : 4 * one_step) == -1);
      if (value < 1) CHECK(close(inverse[0], real(1 / std::sqrt(1e-5)), 1e-4, 0));
    }
  }
}

TEST_CASE("rms_norm and its gradient agree with the reference", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const Index n : {1, 3, 15, 16, 17, 66, 130}) {
      // also where squares of floats are none, and the product of both
      for (const auto& [size, up_size] :
           {std::pair{1.0, 1.0}, {1e-25, 1.0}, {1e25, 1.0}, {1e25, 1e25}}) {
        constexpr Index rows = 5, block = 2;
        Numbers numbers{std::uint64_t(n)};
        std::vector<real> x = numbers.some(rows * n, -2, 2), gain = numbers.some(n, -1, 1);
        for (real& value : x) value *= real(size);
        if (n > 3) x[std::size_t(2 * n)] = nan, x[std::size_t(3 * n)] = inf;
        std::vector<real> dy = numbers.some(rows * n, -2, 2);
        for (real& value : dy) value *= real(up_size);
        std::vector<real> results[2][4];
        for (int i = 0; i < 2; ++i) {
          const Table& table = i == 0 ? *set : reference_set();
          Guarded in(x, 1), up(dy, 2), g(gain, 3), y(rows * n, i), inverse(rows, 1);
          Guarded dx(rows * n, i), sums(std::vector<real>(std::size_t(3 * n), real(0.5)), 2);
          table.rms_norm(in.data(), g.data(), real(1e-5), y.data(), inverse.data(), rows, n);
          table.rms_norm_backward(up.data(), in.data(), g.data(), inverse.data(), dx.data(),
                                  sums.data(), rows, n, block);
          REQUIRE((y.intact() && inverse.intact() && dx.intact() && sums.intact()));
          results[i][0] = y.values(), results[i][1] = inverse.values();
          results[i][2] = dx.values(), results[i][3] = sums.values();
        }
        CAPTURE(set->name, n, size, up_size);
        const double slope = up_size * double(results[1][1][0]);  // gradients are in proportion
        CHECK(first_apart(results[0][0], results[1][0], 1e-6, 1e-6) == -1);
        CHECK(first_apart(results[0][1], results[1][1], 1e-6, 0) == -1);
        CHECK(first_apart(results[0][2], results[1][2], 1e-5, 2e-6 * slope) == -1);
        CHECK(first_apart(results[0][3], results[1][3], 1e-5, 2e-6 * up_size) == -1);
      }
    }
  }
}

}  // namespace tapestry::kernels
