// Errors of the elementary functions of every usable set, in units in the last place (ULP), over
// dense sweeps of floats against the C library in double.
// To print the table: run the tests with "[ulp]".
#include <algorithm>
#include <cfenv>
#include <cstdio>
#include <cstring>

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

// |got - want| in distances of neighbouring floats at `want`
double ulps(float got, double want) {
  if (std::isnan(got)) return std::isnan(want) ? 0 : 1e9;
  if (std::isinf(got) || std::isinf(want)) return got == static_cast<float>(want) ? 0 : 1e9;
  const int exponent = std::max(want == 0 ? -126 : std::ilogb(want), -126);
  return std::abs(double(got) - want) / std::ldexp(1.0, exponent - 23);
}

struct Worst {
  double error = 0;
  float at = 0;
};

// The largest error over every `stride`-th float from low to high, both included.
template <class Error>
Worst sweep(Unary kernel, float low, float high, std::int64_t stride, Error error) {
  constexpr std::size_t batch = 4096;
  std::vector<float> x, y(batch);
  Worst worst;
  const std::int64_t end = place_of(high);
  for (std::int64_t place = place_of(low); place <= end;) {
    x.clear();
    for (; x.size() < batch && place <= end; place += stride) x.push_back(float_at(place));
    if (place > end && x.size() < batch) x.push_back(high);
    kernel(x.data(), y.data(), Index(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double e = error(x[i], y[i]);
      if (!(e <= worst.error)) worst = {std::isnan(e) ? 1e9 : e, x[i]};
    }
  }
  return worst;
}

struct Row {
  const char* name;
  Unary Table::* entry;
  double (*truth)(double);
  float low, high;
  double allowed;  // ULP
};

constexpr float largest = std::numeric_limits<float>::max();

const Row rows[] = {
    {"exp", &Table::exp, [](double x) { return std::exp(x); }, -87.33f, 88.72f, 1.1},
    {"exp to 0", &Table::exp, [](double x) { return std::exp(x); }, -104.0f, -87.33f, 0.8},
    {"log", &Table::log, [](double x) { return std::log(x); }, 1e-45f, largest, 0.85},
    {"log near 1", &Table::log, [](double x) { return std::log(x); }, 0.5f, 2.0f, 0.85},
    {"tanh", &Table::tanh, [](double x) { return std::tanh(x); }, -20.0f, 20.0f, 1.15},
    {"tanh middle", &Table::tanh, [](double x) { return std::tanh(x); }, 0.25f, 10.0f, 1.15},
    {"erf", &Table::erf, [](double x) { return std::erf(x); }, -6.0f, 6.0f, 1.5},
    {"erf middle", &Table::erf, [](double x) { return std::erf(x); }, 0.25f, 4.5f, 1.5},
    {"sigmoid", &Table::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -104.0f, 104.0f,
     2.2},
    {"sin", &Table::sin, [](double x) { return std::sin(x); }, -1e4f, 1e4f, 1.05},
    {"cos", &Table::cos, [](double x) { return std::cos(x); }, -1e4f, 1e4f, 1.05},
    {"sin beyond", &Table::sin, [](double x) { return std::sin(x); }, 1e4f, largest, 1},
    {"cos beyond", &Table::cos, [](double x) { return std::cos(x); }, -largest, -1e4f, 1},
    {"sqrt", &Table::sqrt, [](double x) { return std::sqrt(x); }, 0.0f, largest, 0.5001},
    {"softplus", &Table::softplus,
     [](double x) { return x > 30 ? x + std::exp(-x) : std::log1p(std::exp(x)); }, -104.0f, 104.0f,
     2.7},
    {"elu", &Table::elu, [](double x) { return x > 0 ? x : std::expm1(x); }, -104.0f, 1.0f, 2.4},
};

Worst worst_of(const Table& set, const Row& row, std::int64_t stride) {
  return sweep(set.*row.entry, row.low, row.high, stride,
               [&](float x, float y) { return ulps(y, row.truth(double(x))); });
}

double gelu_error(float x, float y) {
  const double want = double(x) * std::erfc(-double(x) / std::sqrt(2.0)) / 2;
  return std::abs(double(y) - want) / std::max(1.0, std::abs(double(x)));
}

double gelu_tanh_error(float x, float y) {
  const double v = x, inner = 0.7978845608028654 * (v + 0.044715 * v * v * v);
  return std::abs(double(y) - v * (1 + std::tanh(inner)) / 2) / std::max(1.0, std::abs(v));
}

}  // namespace

TEST_CASE("elementary functions stay within their error bounds", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const Row& row : rows) {
      const Worst worst = worst_of(*set, row, 14983);
      CAPTURE(set->name, row.name, worst.error, worst.at);
      CHECK(worst.error <= row.allowed);
    }
  }
}

TEST_CASE("both forms of gelu stay within 1e-6 of max(1, |x|)", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    const Worst exact = sweep(set->gelu, -100, 100, 14983, gelu_error);
    const Worst approximate = sweep(set->gelu_tanh, -100, 100, 14983, gelu_tanh_error);
    CAPTURE(set->name, exact.error, exact.at, approximate.error, approximate.at);
    CHECK(exact.error <= 1e-6);
    CHECK(approximate.error <= 1e-6);
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
      const auto kernel = tanh_form ? set->gelu_tanh_backward : set->gelu_backward;
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
    const bool all = set != &reference_set();
    for (Unary kernel :
         {set->negate, set->sqrt, set->exp, set->log, set->sin, set->cos, set->tanh, set->erf,
          set->sigmoid, set->relu, set->elu, set->gelu, set->gelu_tanh, set->softplus}) {
      CHECK(lost_nans(all, [&](const std::vector<real>& x) {
              kernel(x.data(), y.data(), Index(x.size()));
              return numbers_in(x.size());
            }) == 0);
    }
    for (UnaryBackward kernel :
         {set->tanh_backward, set->sigmoid_backward, set->elu_backward, set->gelu_backward,
          set->gelu_tanh_backward, set->softplus_backward}) {
      CHECK(lost_nans(all, [&](const std::vector<real>& x) {
              kernel(ones.data(), x.data(), y.data(), Index(x.size()));
              const auto by_saved = numbers_in(x.size());
              kernel(x.data(), ones.data(), y.data(), Index(x.size()));
              return by_saved + numbers_in(x.size());
            }) == 0);
    }
    for (Binary kernel :
         {set->add, set->subtract, set->multiply, set->divide, set->maximum, set->minimum}) {
      CHECK(lost_nans(all, [&](const std::vector<real>& x) {
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
    for (Unary kernel :
         {set->negate, set->sqrt, set->exp, set->log, set->sin, set->cos, set->tanh, set->erf,
          set->sigmoid, set->relu, set->elu, set->gelu, set->gelu_tanh, set->softplus}) {
      CHECK(std::isnan(of(kernel, nan)));
    }
    CHECK(of(set->exp, 88.7229f) == inf);
    CHECK(of(set->exp, 88.7228f) < inf);
    CHECK(of(set->exp, inf) == inf);
    CHECK(of(set->exp, -103.98f) == 0);
    CHECK(of(set->exp, -inf) == 0);
    CHECK(of(set->exp, 0) == 1);
    CHECK(of(set->log, 0) == -inf);
    CHECK(of(set->log, -0.0f) == -inf);
    CHECK(of(set->log, inf) == inf);
    CHECK(std::isnan(of(set->log, -1e-30f)));
    CHECK(of(set->log, 1) == 0);
    CHECK(std::isnan(of(set->sqrt, -1)));
    CHECK(of(set->sqrt, inf) == inf);
    CHECK((std::isnan(of(set->sin, inf)) && std::isnan(of(set->cos, -inf))));
    CHECK((of(set->tanh, inf) == 1 && of(set->tanh, -inf) == -1));
    CHECK((of(set->erf, inf) == 1 && of(set->erf, -inf) == -1));
    CHECK((of(set->sigmoid, inf) == 1 && of(set->sigmoid, -inf) == 0));
    CHECK((of(set->relu, inf) == inf && of(set->relu, -inf) == 0));
    CHECK((of(set->elu, inf) == inf && of(set->elu, -inf) == -1));
    CHECK((of(set->gelu, inf) == inf && of(set->gelu, -inf) == 0));
    CHECK((of(set->gelu_tanh, inf) == inf && of(set->gelu_tanh, -inf) == 0));
    CHECK((of(set->softplus, inf) == inf && of(set->softplus, -inf) == 0));
    CHECK(std::signbit(of(set->negate, 0)));
    for (Unary odd : {set->sin, set->tanh, set->erf, set->sqrt}) {
      CHECK(std::signbit(of(odd, -0.0f)));
      CHECK(!std::signbit(of(odd, 0.0f)));
    }
    CHECK(!std::signbit(of(set->relu, -0.0f)));
  }
}

TEST_CASE("sine and cosine keep their digits at the floats closest to their zeros",
          "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const float sign : {1.0f, -1.0f}) {
      for (const float x : {252.898209f, 4.71238899f, 1.57079637f}) {  // odd multiples of pi / 2
        const float at = sign * x, twice = 2 * at;
        float cosine = 0, sine = 0;
        set->cos(&at, &cosine, 1);
        set->sin(&twice, &sine, 1);
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
    for (const Unary function : {set->exp, set->sigmoid, set->softplus}) {
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

TEST_CASE("table of the largest errors in ULP", "[.ulp]") {
  for (const Row& row : rows) {
    std::printf("%-12s", row.name);
    for (const Table* set : usable_sets()) {
      const Worst worst = worst_of(*set, row, 997);
      std::printf("  %s %.3f at %-12.9g", set->name, worst.error, double(worst.at));
      CHECK(worst.error <= row.allowed);
    }
    std::printf("\n");
  }
}

}  // namespace tapestry::kernels

#endif
