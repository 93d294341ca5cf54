// Errors of the elementary functions of every usable set, in units in the last place (ULP), over
// dense sweeps of floats against the C library in double.
// To print the table: run the tests with "[.ulp]"; for one function "[.ulp]" -c mish.
#include <algorithm>
#include <cfenv>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "kernels/kernel_test.hpp"

#ifndef TAPESTRY_F64  // the double build has the C library's own functions only

namespace tapestry::kernels {
namespace {

// Floats in their order as integers: neighbours differ by one.
std::int64_t place_of(float x) {
  std::int32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits >= 0 ? bits : std::int64_t(std::numeric_limits<std::int32_t>::min()) - bits;
}

float float_at(std::int64_t place) {
  const auto bits = static_cast<std::int32_t>(
      place >= 0 ? place : std::int64_t(std::numeric_limits<std::int32_t>::min()) - place);
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

struct Worst {
  double error = 0;
  float at = 0;
};

// The largest error over every `stride`-th float from low to high, both included. `kernel(x, y)`
// fills y, which is as long as x; `error(x, y)` is that of one float.
template <class Kernel, class Error>
Worst sweep(Kernel kernel, float low, float high, std::int64_t stride, Error error) {
  constexpr std::size_t batch = 4096;
  std::vector<float> x, y(batch);
  Worst worst;
  const std::int64_t end = place_of(high);
  for (std::int64_t place = place_of(low); place <= end;) {
    x.clear();
    for (; x.size() < batch && place <= end; place += stride) x.push_back(float_at(place));
    if (place > end && x.size() < batch) x.push_back(high);
    kernel(x, y);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double e = error(x[i], y[i]);
      if (!(e <= worst.error)) worst = {std::isnan(e) ? 1e9 : e, x[i]};
    }
  }
  return worst;
}

struct Row {
  const char* name;
  int place;  // in Table::unary
  double (*truth)(double);
  Claim claim;
};

constexpr float largest = std::numeric_limits<float>::max();

// What each function claims, and parts of some intervals, swept more densely or beyond.
std::vector<Row> rows() {
  std::vector<Row> all;
  for (const FunctionRow& f : unary_rows()) all.push_back({f.name, f.place, f.plain, f.claim});
  constexpr int exp = UnaryFunctions::place<Exp>(), log = UnaryFunctions::place<Log>();
  constexpr int tanh = UnaryFunctions::place<Tanh>(), erf = UnaryFunctions::place<Erf>();
  constexpr int sin = UnaryFunctions::place<Sin>(), cos = UnaryFunctions::place<Cos>();
  const std::vector<Row> more = {
      {"exp to 0", exp, Exp::plain, {-104, -87.33, 0.8}},
      {"log near 1", log, Log::plain, {0.5, 2, 0.85}},
      {"tanh middle", tanh, Tanh::plain, {0.25, 10, 1.15}},
      {"erf middle", erf, Erf::plain, {0.25, 4.5, 1.5}},
      {"sin beyond", sin, Sin::plain, {1e4, largest, 1}},
      {"cos beyond", cos, Cos::plain, {-largest, -1e4, 1}},
  };
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// The largest share of its claim that a function takes.
Worst worst_of(const Table& set, const Row& row, std::int64_t stride) {
  return sweep([&](const auto& x, auto& y) { set.unary[row.place](x.data(), y.data(), x.size()); },
               float(row.claim.low), float(row.claim.high), stride,
               [&](float x, float y) {
                 return share_of_claim(row.claim, double(x), y, row.truth(double(x)));
               });
}

// How far off a derivative is, of max(1, |x|). What it reads, x or the output, is a float.
Worst worst_slope_of(const Table& set, const FunctionRow& row, std::int64_t stride) {
  const auto saved = [&](float x) { return row.saves_output ? float(row.plain(double(x))) : x; };
  const auto slopes = [&](const std::vector<float>& x, std::vector<float>& dx) {
    const std::vector<float> ones(x.size(), 1.0f);
    std::vector<float> read;
    std::transform(x.begin(), x.end(), std::back_inserter(read), saved);
    set.unary_backward[row.place](ones.data(), read.data(), dx.data(), Index(x.size()));
  };
  return sweep(slopes, float(row.claim.low), float(row.claim.high), stride, [&](float x, float dx) {
    const double off = double(dx) - row.plain_backward(1, double(saved(x)));
    return std::abs(off) / std::max(1.0, std::abs(double(x)));
  });
}

}  // namespace

TEST_CASE("functions of one number keep their claims", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const Row& row : rows()) {
      const Worst worst = worst_of(*set, row, 14983);
      CAPTURE(set->name, row.name, worst.error, worst.at);
      CHECK(worst.error <= 1);
    }
  }
}

TEST_CASE("derivatives keep their claims", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const FunctionRow& row : unary_rows()) {
      if (!row.backward) continue;
      const Worst worst = worst_slope_of(*set, row, 14983);
      CAPTURE(set->name, row.name, worst.error, worst.at);
      CHECK(worst.error <= row.slope_error);
    }
  }
}

TEST_CASE("gradients of both forms of gelu stay within 1e-6 of max(1, |x|)", "[phase0][kernels]") {
  const auto slope = [](double x) {
    return std::erfc(-x / std::sqrt(2.0)) / 2 + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
  };
  const auto tanh_slope = [](double x) {
    const double scale = std::sqrt(2 / M_PI), u = scale * (x + 0.044715 * x * x * x);
    const double share = 1 / (1 + std::exp(-2 * u)), other = 1 / (1 + std::exp(2 * u));
    return share + 2 * x * share * other * scale * (1 + 3 * 0.044715 * x * x);
  };
  const std::vector<real> ones(4096, real(1));
  std::vector<real> x(4096), y(4096);
  for (const Table* set : usable_sets()) {
    for (const bool tanh_form : {false, true}) {
      const auto kernel = tanh_form ? set->backward_of<GeluTanh>() : set->backward_of<Gelu>();
      Worst worst;
      for (int part = 0; part < 48; ++part) {
        for (std::size_t i = 0; i < 4096; ++i) x[i] = float(part - 24) + float(i) / 4096;
        kernel(ones.data(), x.data(), y.data(), 4096);
        for (std::size_t i = 0; i < 4096; ++i) {
          const double want = tanh_form ? tanh_slope(x[i]) : slope(x[i]);
          const double error = std::abs(y[i] - want) / std::max(1.0, std::abs(double(x[i])));
          if (!(error <= worst.error)) worst = {error, x[i]};
        }
      }
      CAPTURE(set->name, tanh_form, worst.error, worst.at);
      CHECK(worst.error <= 5e-7);
    }
  }
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;  // takes minutes for all, and watches memory, not numbers
#else
constexpr bool sanitized = false;
#endif

// All 2^24 NaN of float, a batch at a time; the plain loops, which are slow, get every 127th.
template <class Lost>
std::int64_t lost_nans(bool all, Lost lost) {
  constexpr std::int64_t first = 0x7F800001, last = 0x7FFFFFFF;
  std::vector<real> x;
  std::int64_t count = 0;
  for (std::int64_t pattern = first; pattern <= last; pattern += all ? 1 : 127) {
    for (const std::uint32_t sign : {0u, 0x80000000u}) {
      const std::uint32_t bits = std::uint32_t(pattern) | sign;
      float value;
      std::memcpy(&value, &bits, sizeof value);
      x.push_back(value);
    }
    if (x.size() < 8192 && pattern + 127 <= last) continue;
    count += lost(x);
    x.clear();
  }
  return count;
}

TEST_CASE("no NaN of any pattern becomes a number", "[phase0][kernels]") {
  std::vector<real> y(8192 + 256), ones(y.size(), real(1));
  const auto numbers_in = [&](std::size_t n) {
    return std::count_if(y.begin(), y.begin() + std::ptrdiff_t(n),
                         [](real v) { return !std::isnan(v); });
  };
  for (const Table* set : usable_sets()) {
    const bool all = set != &reference_set() && !sanitized;
    for (const FunctionRow& row : unary_rows()) {
      if (!std::isnan(row.plain(double(nan)))) continue;  // it asks whether a number is one
      CAPTURE(set->name, row.name);
      CHECK(lost_nans(all, [&](const std::vector<real>& x) {
              set->unary[row.place](x.data(), y.data(), Index(x.size()));
              return numbers_in(x.size());
            }) == 0);
    }
    for (const FunctionRow& row : unary_rows()) {
      if (!row.backward) continue;
      CAPTURE(set->name, row.name);
      const bool slope_keeps = row.slope_error > 0;  // where it is 0, saved numbers only choose
      CHECK(lost_nans(all, [&](const std::vector<real>& x) {
              const UnaryBackward kernel = set->unary_backward[row.place];
              kernel(ones.data(), x.data(), y.data(), Index(x.size()));
              const auto by_saved = slope_keeps ? numbers_in(x.size()) : 0;
              kernel(x.data(), ones.data(), y.data(), Index(x.size()));
              return by_saved + numbers_in(x.size());
            }) == 0);
    }
    for (const BinaryRow& row : binary_rows()) {
      if (!std::isnan(row.plain(double(nan), 1)) || !std::isnan(row.plain(1, double(nan))))
        continue;
      CAPTURE(set->name, row.name);
      CHECK(lost_nans(all, [&](const std::vector<real>& x) {
              const Binary kernel = set->binary[row.place];
              kernel(x.data(), 1, ones.data(), 0, y.data(), Index(x.size()));
              const auto left = numbers_in(x.size());
              kernel(ones.data(), 0, x.data(), 1, y.data(), Index(x.size()));
              return left + numbers_in(x.size());
            }) == 0);
    }
  }
}

TEST_CASE("elementary functions at the ends of their ranges", "[phase0][kernels]") {
  const auto of = [](Unary kernel, float x) {
    float y = 0;
    kernel(&x, &y, 1);
    return y;
  };
  for (const Table* set : usable_sets()) {
    CAPTURE(set->name);
    CHECK(of(set->of<Exp>(), 88.7229f) == inf);
    CHECK(of(set->of<Exp>(), 88.7228f) < inf);
    CHECK(of(set->of<Exp>(), inf) == inf);
    CHECK(of(set->of<Exp>(), -103.98f) == 0);
    CHECK(of(set->of<Exp>(), -103.97208f) > 0);
    CHECK(of(set->of<Exp>(), -inf) == 0);
    CHECK(of(set->of<Exp>(), 0) == 1);
    CHECK(of(set->of<Log>(), 0) == -inf);
    CHECK(of(set->of<Log>(), -0.0f) == -inf);
    CHECK(of(set->of<Log>(), inf) == inf);
    CHECK(std::isnan(of(set->of<Log>(), -1e-30f)));
    CHECK(of(set->of<Log>(), 1) == 0);
    CHECK(std::isnan(of(set->of<Sqrt>(), -1)));
    CHECK(of(set->of<Sqrt>(), inf) == inf);
    CHECK((std::isnan(of(set->of<Sin>(), inf)) && std::isnan(of(set->of<Cos>(), -inf))));
    CHECK((of(set->of<Tanh>(), inf) == 1 && of(set->of<Tanh>(), -inf) == -1));
    CHECK((of(set->of<Erf>(), inf) == 1 && of(set->of<Erf>(), -inf) == -1));
    CHECK((of(set->of<Sigmoid>(), inf) == 1 && of(set->of<Sigmoid>(), -inf) == 0));
    CHECK((of(set->of<Relu>(), inf) == inf && of(set->of<Relu>(), -inf) == 0));
    CHECK((of(set->of<Elu>(), inf) == inf && of(set->of<Elu>(), -inf) == -1));
    CHECK((of(set->of<Gelu>(), inf) == inf && of(set->of<Gelu>(), -inf) == 0));
    CHECK((of(set->of<GeluTanh>(), inf) == inf && of(set->of<GeluTanh>(), -inf) == 0));
    CHECK((of(set->of<Mish>(), inf) == inf && of(set->of<Mish>(), -inf) == 0));
    CHECK((of(set->of<Silu>(), inf) == inf && of(set->of<Silu>(), -inf) == 0));
    CHECK((of(set->of<Softplus>(), inf) == inf && of(set->of<Softplus>(), -inf) == 0));
    CHECK(std::signbit(of(set->of<Negate>(), 0)));
    for (Unary odd :
         {set->of<Sin>(), set->of<Tanh>(), set->of<Erf>(), set->of<Sqrt>(), set->of<Mish>()}) {
      CHECK(std::signbit(of(odd, -0.0f)));
      CHECK(!std::signbit(of(odd, 0.0f)));
    }
    CHECK(!std::signbit(of(set->of<Relu>(), -0.0f)));
  }
}

TEST_CASE("gelu and silu where they stop to fall off", "[phase0][kernels]") {
  const auto of = [](Unary kernel, float x) {
    float y = 0;
    kernel(&x, &y, 1);
    return y;
  };
  const auto slope = [](UnaryBackward kernel, float x) {
    float dy = 1, dx = 0;
    kernel(&dy, &x, &dx, 1);
    return dx;
  };
  for (const Table* set : usable_sets()) {
    CAPTURE(set->name);
    CHECK(of(set->of<Silu>(), -50) == Approx(-50 * std::exp(-50.0)));
    CHECK(slope(set->backward_of<Silu>(), -50) == Approx(-49 * std::exp(-50.0)));
    if (set == &reference_set()) continue;
    CHECK((of(set->of<Gelu>(), -12) == 0 && of(set->of<Silu>(), -80) == 0));
    CHECK((of(set->of<Gelu>(), -13) == 0 && of(set->of<Silu>(), -100) == 0));
    CHECK((of(set->of<Gelu>(), -11.4f) < 0 && of(set->of<Silu>(), -79.5) < 0));
    CHECK(slope(set->backward_of<Gelu>(), -15) == slope(set->backward_of<Gelu>(), -10));
    CHECK(slope(set->backward_of<Gelu>(), -9.5f) != slope(set->backward_of<Gelu>(), -10));
    CHECK(slope(set->backward_of<Silu>(), -100) == slope(set->backward_of<Silu>(), -80));
  }
}

TEST_CASE("mish down to where it rounds to 0, and its slope", "[phase0][kernels]") {
  const auto of = [](const Table& set, float x) {
    std::vector<real> in(35, x), out(35, nan);
    set.of<Mish>()(in.data(), out.data(), 35);
    return out[34];
  };
  const auto slope = [](const Table& set, float x) {
    const real dy = 3;
    real dx = 0;
    set.backward_of<Mish>()(&dy, &x, &dx, 1);
    return dx;
  };
  for (const Table* set : usable_sets()) {
    CAPTURE(set->name);
    for (const float x : {-91.0f, -88.0f, -3e-39f, 3e-39f, 40.0f, 3e38f}) {
      CAPTURE(x);
      CHECK(ulps(of(*set, x), Mish::plain(double(x))) <= 4);
    }
    CHECK((of(*set, -108.6f) < 0 && of(*set, -108.7f) == 0 && of(*set, -3e38f) == 0));
    CHECK((slope(*set, 3e38f) == 3 && std::abs(slope(*set, -3e38f)) < 1e-30));
    CHECK((slope(*set, 0) == Approx(1.8) && slope(*set, -50) == Approx(-147 * std::exp(-50.0))));
    if (set == &reference_set()) continue;
    for (const float x : {-109.0f, -1000.0f, -inf}) {
      std::feclearexcept(FE_ALL_EXCEPT);
      CHECK((of(*set, x) == 0 && std::fetestexcept(FE_UNDERFLOW) == 0));
      CHECK((slope(*set, x) == slope(*set, -80) && std::fetestexcept(FE_UNDERFLOW) == 0));
      CHECK((slope(*set, -x) == 3 && std::fetestexcept(FE_UNDERFLOW) == 0));
    }
  }
}

TEST_CASE("sine and cosine keep their digits at the floats closest to their zeros",
          "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const float sign : {1.0f, -1.0f}) {
      for (const float x : {252.898209f, 4.71238899f, 1.57079637f}) {  // odd multiples of pi / 2
        const float at = sign * x, twice = 2 * at;
        float cosine = 0, sine = 0;
        set->of<Cos>()(&at, &cosine, 1);
        set->of<Sin>()(&twice, &sine, 1);
        CAPTURE(set->name, at);
        CHECK(ulps(cosine, std::cos(double(at))) <= 2);
        CHECK(ulps(sine, std::sin(double(twice))) <= 2);
      }
    }
  }
}

TEST_CASE("exponentials that round to 0 pass no denormal on their way", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    if (set == &reference_set()) continue;
    for (const Unary function : {set->of<Exp>(), set->of<Sigmoid>(), set->of<Softplus>()}) {
      for (const real x : {real(-104.5), real(-1000), -inf}) {
        std::vector<real> in(35, x), out(35, real(1));
        std::feclearexcept(FE_ALL_EXCEPT);
        function(in.data(), out.data(), 35);
        CAPTURE(set->name, x);
        REQUIRE(std::fetestexcept(FE_UNDERFLOW) == 0);
        REQUIRE(out[34] == 0);
      }
    }
  }
  CHECK(true);  // where the reference is the only set
}

// Errors in ULP, or relative to max(1, |x|) where a function claims that.
TEST_CASE("table of the largest errors", "[.ulp]") {
  for (const Row& row : rows()) {
    DYNAMIC_SECTION(row.name) {
      double most = 0;
      std::printf("%-12s", row.name);
      for (const Table* set : usable_sets()) {
        const Worst worst = worst_of(*set, row, 997);
        const double unit = row.claim.absolute > 0 ? row.claim.absolute : row.claim.ulp;
        std::printf("  %s %.3g at %-12.9g", set->name, worst.error * unit, double(worst.at));
        most = std::max(most, worst.error);
      }
      std::printf("\n");
      CHECK(most <= 1);  // of what it claims
    }
  }
}

TEST_CASE("table of the largest errors of derivatives", "[.ulp]") {
  for (const FunctionRow& row : unary_rows()) {
    if (!row.backward) continue;
    DYNAMIC_SECTION(row.name) {
      double most = 0;
      std::printf("d %-10s", row.name);
      for (const Table* set : usable_sets()) {
        const Worst worst = worst_slope_of(*set, row, 997);
        std::printf("  %s %.3g at %-12.9g", set->name, worst.error, double(worst.at));
        most = std::max(most, worst.error);
      }
      std::printf("\n");
      CHECK(most <= row.slope_error);
    }
  }
}

}  // namespace tapestry::kernels

#endif
