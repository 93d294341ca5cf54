// Every entry of every usable set against the reference: lengths around the register widths,
// misaligned arrays, and guards that prove no kernel writes outside its output.
#include <array>

#include "kernels/kernel_test.hpp"
#include "kernels/philox.hpp"

namespace tapestry::kernels {
namespace {

constexpr double one_step = 1.2e-7;  // about the distance of two floats near 1

// Numbers of the interval in which a function was swept, but none of them huge.
std::vector<real> arguments(const Claim& claim, Index n) {
  return Numbers(std::uint64_t(n))
      .some(n, std::max(claim.low, -100.0), std::min(claim.high, 100.0));
}

// Numbers that every elementwise kernel must survive, spread over the array.
void sprinkle(std::vector<real>& values) {
  const real special[] = {nan, inf, -inf, real(0), -real(0), real(2e4), real(-2e4)};
  for (std::size_t i = 2; i < values.size(); i += 5) values[i] = special[i / 5 % 7];
}

}  // namespace

TEST_CASE("functions of one number keep their claims at every length", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const FunctionRow& row : unary_rows()) {
      const Unary kernel = set->unary[row.place];
      for (Index n : lengths) {
        for (Index offset = 0; offset < 4; ++offset) {
          std::vector<real> x = arguments(row.claim, n);
          if (offset == 3) sprinkle(x);
          Guarded in(x, offset), out(n, (offset + 1) % 4);
          kernel(in.data(), out.data(), n);
          const std::vector<real> y = out.values();
          CAPTURE(set->name, row.name, n, offset);
          for (std::size_t i = 0; i < y.size(); ++i) {
            CAPTURE(x[i], y[i]);
            REQUIRE(share_of_claim(row.claim, x[i], y[i], row.plain(double(x[i]))) <= 1);
          }
          REQUIRE(out.intact());
          kernel(in.data(), in.data(), n);  // in place
          REQUIRE(first_apart(in.values(), out.values(), 0, 0) == -1);
          REQUIRE(in.intact());
        }
      }
    }
  }
}

TEST_CASE("kernels of derivatives agree with the reference", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const FunctionRow& row : unary_rows()) {
      if (!row.backward) continue;
      for (Index n : lengths) {
        for (Index offset = 0; offset < 4; ++offset) {
          Numbers numbers{std::uint64_t(n)};
          std::vector<real> x = arguments(row.claim, n), kept = x;
          if (row.saves_output) {
            for (real& value : kept) value = real(row.plain(double(value)));
          }
          if (offset == 3) sprinkle(kept);
          Guarded saved(kept, offset), dy(numbers.some(n, -2, 2), 3 - offset);
          Guarded out(n, (offset + 2) % 4), want(n, 0);
          set->unary_backward[row.place](dy.data(), saved.data(), out.data(), n);
          reference_set().unary_backward[row.place](dy.data(), saved.data(), want.data(), n);
          const double allowed = 2 * row.slope_error;  // for |dy| <= 2
          for (std::size_t i = 0; i < kept.size(); ++i) {
            const double scale = std::isfinite(x[i]) ? std::max(1.0, double(std::abs(x[i]))) : 1;
            CAPTURE(set->name, row.name, n, offset, kept[i]);
            REQUIRE(close(out.values()[i], want.values()[i], allowed, allowed * scale));
          }
          REQUIRE(out.intact());
        }
      }
    }
  }
}

TEST_CASE("two-operand kernels agree with the reference", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const BinaryRow& row : binary_rows()) {
      for (Index n : lengths) {
        for (Index offset = 0; offset < 4; ++offset) {
          const Index a_step = offset % 2, b_step = offset / 2;  // array or one number repeated
          Numbers numbers{std::uint64_t(n)};
          std::vector<real> left = numbers.some(n, 0.5, 3), right = numbers.some(n, -2, 2);
          for (std::size_t i = 0; i < left.size(); i += 3) right[i] = left[i];
          if (a_step * b_step == 1) sprinkle(left);
          if (a_step * b_step == 1) std::rotate(right.begin(), right.begin() + n / 2, right.end());
          Guarded a(left, offset), b(right, (offset + 1) % 4), out(n, (offset + 2) % 4), want(n, 0);
          set->binary[row.place](a.data(), a_step, b.data(), b_step, out.data(), n);
          reference_set().binary[row.place](a.data(), a_step, b.data(), b_step, want.data(), n);
          const Index apart = first_apart(out.values(), want.values(), one_step, 0);
          CAPTURE(set->name, row.name, n, a_step, b_step, apart);
          REQUIRE(apart == -1);
          REQUIRE(out.intact());
        }
      }
    }
  }
}

TEST_CASE("kernels of no numbers read none", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const FunctionRow& row : unary_rows()) {
      set->unary[row.place](nullptr, nullptr, 0);
      if (row.backward) set->unary_backward[row.place](nullptr, nullptr, nullptr, 0);
    }
    for (const Index step : {0, 1}) {
      for (const BinaryRow& row : binary_rows()) {
        set->binary[row.place](nullptr, step, nullptr, step, nullptr, 0);
      }
      set->select(nullptr, step, nullptr, step, nullptr, step, nullptr, 0);
    }
  }
  CHECK(true);  // a read would have ended the program
}

TEST_CASE("maximum and minimum keep a NaN on either side", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    CAPTURE(set->name);
    const real a[] = {nan, 1, nan, -inf, 2, inf}, b[] = {1, nan, nan, 2, -inf, nan};
    real high[6], low[6];
    set->of<Maximum>()(a, 1, b, 1, high, 6);
    set->of<Minimum>()(a, 1, b, 1, low, 6);
    CHECK(first_apart({high, high + 6}, {nan, nan, nan, 2, 2, nan}, 0, 0) == -1);
    CHECK(first_apart({low, low + 6}, {nan, nan, nan, -inf, -inf, nan}, 0, 0) == -1);
  }
}

TEST_CASE("select agrees with the reference for arrays and repeated numbers", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (Index n : lengths) {
      for (Index steps = 0; steps < 8; ++steps) {
        Numbers numbers{std::uint64_t(n + 1)};
        std::vector<real> which = numbers.some(n);
        for (std::size_t i = 0; i < which.size(); i += 2) which[i] = i % 3 == 0 ? nan : real(0);
        Guarded c(which, steps % 4), a(numbers.some(n), 1), b(numbers.some(n), 2), out(n, 3);
        Guarded want(n, 0);
        const Index c_step = steps & 1, a_step = steps >> 1 & 1, b_step = steps >> 2;
        set->select(c.data(), c_step, a.data(), a_step, b.data(), b_step, out.data(), n);
        reference_set().select(c.data(), c_step, a.data(), a_step, b.data(), b_step, want.data(),
                               n);
        CAPTURE(set->name, n, steps);
        REQUIRE(first_apart(out.values(), want.values(), 0, 0) == -1);
        REQUIRE(out.intact());
      }
    }
  }
}

TEST_CASE("a number's bits do not depend on its place in the array", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const FunctionRow& row : unary_rows()) {
      const std::vector<real> x = arguments(row.claim, 67);
      std::vector<real> together(67), alone(67);
      set->unary[row.place](x.data(), together.data(), 67);
      for (std::size_t i = 0; i < 67; ++i) set->unary[row.place](&x[i], &alone[i], 1);
      CAPTURE(set->name, row.name);
      REQUIRE(first_apart(together, alone, 0, 0) == -1);
    }
  }
}

// The answers that Random123, the paper's own code, is tested with.
TEST_CASE("Philox of seven rounds gives the published answers", "[phase0][kernels]") {
  using Block = std::array<std::uint32_t, 4>;
  constexpr int rounds = Philox::fewest_rounds;
  REQUIRE(philox(0, 0, 0, rounds) == Block{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48});
  REQUIRE(philox(~0ull, ~0ull, ~0ull, rounds) ==
          Block{0x5207ddc2, 0x45165e59, 0x4d8ee751, 0x8c52f662});
  REQUIRE(philox(0x85a308d3243f6a88, 0x0370734413198a2e, 0x299f31d0a4093822, rounds) ==
          Block{0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a});
}

TEST_CASE("dropout draws the numbers of the reference, from any block on", "[phase0][kernels]") {
  const std::uint32_t limit = 0x9abc;
  for (const Table* set : usable_sets()) {
    for (Index n : {0, 1, 3, 16, 63, 64, 65, 127, 128, 300, 512, 1030}) {
      for (std::uint64_t first : {0ull, 1ull, 6ull, (1ull << 32) - 2, ~0ull - 5}) {
        const RandomBlocks random = {0xdeadbeefcafe1234, 5ull << 33, first};
        std::vector<real> x = Numbers(3).some(n);
        if (n > 16) x[7] = nan, x[11] = inf;
        Guarded in(x, n % 4), out(n, 1), want(n, 0);
        set->dropout(in.data(), out.data(), n, random, limit, real(1.5));
        reference_set().dropout(in.data(), want.data(), n, random, limit, real(1.5));
        CAPTURE(set->name, n, first);
        REQUIRE(first_apart(out.values(), want.values(), 0, 0) == -1);
        REQUIRE(out.intact());
        set->dropout(in.data(), in.data(), n, random, limit, real(1.5));
        REQUIRE(first_apart(in.values(), out.values(), 0, 0) == -1);
      }
    }
  }
}

TEST_CASE("dropout of an array larger than the caches", "[phase0][kernels]") {
  constexpr Index n = (1 << 20) + 77;
  const std::vector<real> x = Numbers(3).some(n, 1, 2);
  Guarded want(n, 0);
  reference_set().dropout(x.data(), want.data(), n, {1, 2, 3}, 0x2000, 2);
  for (const Table* set : usable_sets()) {
    for (Index shift : {0, 1, 4, 8, 15}) {  // aligned for all sets, none, and some
      Guarded y(n, shift);
      set->dropout(x.data(), y.data(), n, {1, 2, 3}, 0x2000, 2);
      CAPTURE(set->name, shift);
      REQUIRE(y.values() == want.values());
      REQUIRE(y.intact());
    }
  }
}

TEST_CASE("dropout keeps the number whose bits are the limit itself", "[phase0][kernels]") {
  const RandomBlocks random = {0xdeadbeefcafe1234, 7, 0};
  const std::vector<real> x = Numbers(3).some(256, 1, 2);
  for (const Table* set : usable_sets()) {
    for (Index i = 0; i < 256; ++i) {
      std::uint32_t least = 0, most = 0xFFFF;  // the largest limit that keeps number i
      std::vector<real> y(256);
      while (least < most) {
        const std::uint32_t limit = (least + most + 1) / 2;
        set->dropout(x.data(), y.data(), 256, random, limit, 2);
        (y[std::size_t(i)] == 0 ? most : least) = y[std::size_t(i)] == 0 ? limit - 1 : limit;
      }
      const auto block = std::uint64_t(i / 64 * 8 + i % 16 / 2);
      const auto words = philox(block, random.stream, random.seed, Philox::fewest_rounds);
      const std::uint32_t word = words[std::size_t(i % 2 * 2 + i / 32 % 2)];
      CAPTURE(set->name, i);
      REQUIRE(least == (((i / 16 % 2 == 0 ? word : word >> 16) & 0xFFFF) ^ 0x8000));
    }
  }
}

TEST_CASE("optimizer updates agree with the reference", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    for (Index n : lengths) {
      const real epsilon = n % 2 == 0 ? real(1e-8) : real(0.25);
      const AdamStep step{real(0.01), real(0.9),   real(0.999), epsilon,
                          real(0.1),  real(0.271), real(0.003)};
      Numbers numbers{std::uint64_t(n)};
      const auto weight = numbers.some(n), gradient = numbers.some(n), mean = numbers.some(n);
      const auto square = numbers.some(n, 0, 1);
      std::vector<real> results[2][4];
      for (int i = 0; i < 2; ++i) {
        const Table& table = i == 0 ? *set : reference_set();
        Guarded w(weight, 1), g(gradient, 2), m(mean, 3), s(square, 0);
        table.adam(w.data(), g.data(), m.data(), s.data(), step, n);
        table.sgd(s.data(), g.data(), m.data(), {real(0.1), real(0.9), real(0.2), n % 3 == 0}, n);
        REQUIRE((w.intact() && g.intact() && m.intact() && s.intact()));
        results[i][0] = w.values();
        results[i][1] = m.values();
        results[i][2] = s.values();
      }
      CAPTURE(set->name, n);
      for (int j = 0; j < 3; ++j) {
        REQUIRE(first_apart(results[0][j], results[1][j], 4 * one_step, 4 * one_step) == -1);
      }
    }
  }
}

}  // namespace tapestry::kernels
