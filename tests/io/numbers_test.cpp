#include "io/numbers.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

// The numbers that the bytes mean, as read_numbers finds them in a file.
template <class To = real>
std::vector<To> read(NumberType type, const std::string& bytes,
                     std::endian order = std::endian::little) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a", std::ios::binary) << bytes;
  std::ifstream file(folder / "a", std::ios::binary);
  std::vector<To> numbers(bytes.size() / bytes_of(type));
  read_numbers(file, type, order, std::span<To>(numbers));
  return numbers;
}

template <class Number>
std::string bytes_of_numbers(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

std::vector<std::uint16_t> all_patterns() {
  std::vector<std::uint16_t> all;
  for (unsigned i = 0; i < 65536; ++i) all.push_back(static_cast<std::uint16_t>(i));
  return all;
}

// By the definition of floating-point numbers: (-1)^sign * fraction * 2^exponent.
double value_of(unsigned bits, int fraction_bits, int exponent_bits) {
  const unsigned fraction = bits & ((1U << fraction_bits) - 1);
  const unsigned exponent = bits >> fraction_bits & ((1U << exponent_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = bits >> 15 != 0 ? -1 : 1;
  if (exponent == (1U << exponent_bits) - 1) {
    return fraction == 0 ? sign * HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
  }
  const double digits = fraction + (exponent == 0 ? 0 : std::ldexp(1, fraction_bits));
  return sign * std::ldexp(digits, (exponent == 0 ? 1 : int(exponent)) - bias - fraction_bits);
}

// How many of all 65,536 numbers of 16 bits are read as something else; `fraction_bits` of them
// are behind the point.
int wrong_among_all(NumberType type, std::endian order, int fraction_bits) {
  std::vector<std::uint16_t> patterns = all_patterns(), stored = patterns;
  if (order == std::endian::big) {
    for (std::uint16_t& bits : stored) bits = static_cast<std::uint16_t>(bits << 8 | bits >> 8);
  }
  const std::vector<real> numbers = read(type, bytes_of_numbers(stored), order);
  int wrong = 0;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const double expected = value_of(patterns[i], fraction_bits, 15 - fraction_bits);
    const double found = double{numbers[i]};
    const bool same = std::isnan(expected) ? std::isnan(found) : found == expected;
    wrong += !same || std::signbit(found) != (patterns[i] >> 15 != 0);
  }
  return wrong;
}

}  // namespace

TEST_CASE("each of the 65,536 numbers of F16 and of BF16 is read exactly", "[phase2][io]") {
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    CHECK(wrong_among_all(NumberType::f16, order, 10) == 0);
    CHECK(wrong_among_all(NumberType::bf16, order, 7) == 0);
  }
}

TEST_CASE("a NaN keeps its sign and its payload, quiet or signalling", "[phase2][io]") {
  if constexpr (sizeof(real) == 4) {  // the processor makes a NaN quiet when it makes it double
    const std::vector<std::uint16_t> patterns = all_patterns();
    const std::vector<real> halves = read(NumberType::f16, bytes_of_numbers(patterns));
    const std::vector<real> brains = read(NumberType::bf16, bytes_of_numbers(patterns));
    int wrong = 0, seen = 0;
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
      std::uint32_t half, brain;
      std::memcpy(&half, &halves[bits], 4);
      std::memcpy(&brain, &brains[bits], 4);
      const std::uint32_t sign = bits / 0x8000 * 0x80000000;
      if (bits % 0x8000 > 0x7c00) {
        wrong += half != sign + 0x7f800000 + bits % 0x400 * 0x2000, ++seen;
      }
      if (bits % 0x8000 > 0x7f80) wrong += brain != bits * 0x10000, ++seen;
    }
    CHECK(seen == 2 * 1023 + 2 * 127);
    CHECK(wrong == 0);
  } else {
    CHECK(std::isnan(read(NumberType::f16, "\x01\x7e")[0]));
  }
}

TEST_CASE("a double is rounded to the nearest float, nothing else is", "[phase2][io]") {
  const std::vector<double> numbers = {0.1, -0.0, 1e300, 1e-300, 1 + 0x1p-30};
  const std::vector<real> found = read(NumberType::f64, bytes_of_numbers(numbers));
  for (std::size_t i = 0; i < numbers.size(); ++i) CHECK(found[i] == static_cast<real>(numbers[i]));
  CHECK(std::signbit(found[1]));
  const std::vector<float> floats = {0.1F, -0.0F, 1e-45F, 3.4028234e38F};
  const std::vector<real> same = read(NumberType::f32, bytes_of_numbers(floats));
  for (std::size_t i = 0; i < floats.size(); ++i) CHECK(same[i] == real{floats[i]});
}

TEST_CASE("a whole number is read if its digits have room, and refused otherwise", "[phase2][io]") {
  const auto exact = [](std::uint64_t size) {
    const std::string bytes = bytes_of_numbers(std::vector<std::uint64_t>{size});
    try {
      return double{read(NumberType::u64, bytes)[0]} == static_cast<double>(size);
    } catch (const InexactNumber&) {
      return false;
    }
  };
  constexpr int digits = std::numeric_limits<real>::digits;
  CHECK(exact(0));
  for (int shift = 0; shift <= 64 - digits; ++shift) {
    CAPTURE(shift);
    const std::uint64_t ones = (std::uint64_t{1} << digits) - 1;  // as many ones as there is room
    CHECK(exact(ones << shift));
    if (shift >= 1) CHECK_FALSE(exact((ones << shift) + (std::uint64_t{1} << (shift - 1))));
    if (shift >= 1) CHECK(exact(std::uint64_t{1} << (digits + shift - 1)));
  }
  CHECK_FALSE(exact(~std::uint64_t{0}));
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  CHECK(double{read(NumberType::i64, bytes_of_numbers(std::vector{least}))[0]} == -0x1p63);
  CHECK_THROWS_AS(read(NumberType::i64, bytes_of_numbers(std::vector{least + 1})), InexactNumber);
}

TEST_CASE("whole numbers as indices: those of 32 bits, and no others", "[phase2][io]") {
  using Ids = std::vector<std::int32_t>;
  const std::vector<std::int64_t> ends = {-2147483648, 2147483647};
  CHECK(read<std::int32_t>(NumberType::i64, bytes_of_numbers(ends)) ==
        Ids{std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()});
  for (const std::int64_t beyond : {-2147483649, 2147483648}) {
    CHECK_THROWS_AS(
        read<std::int32_t>(NumberType::i64, bytes_of_numbers(std::vector{std::int64_t{beyond}})),
        InexactNumber);
  }
  CHECK_THROWS_AS(read<std::int32_t>(NumberType::u32, "\xff\xff\xff\xff"), InexactNumber);
  CHECK(read<std::int32_t>(NumberType::i8, "\xff") == Ids{-1});
  CHECK(read<std::int32_t>(NumberType::u8, "\xff") == Ids{255});
  CHECK_THROWS_AS(read<std::int32_t>(NumberType::f32, "abcd"), Error);
}

TEST_CASE("more numbers than are read at once, and a file that is too short", "[phase2][io]") {
  std::vector<std::int32_t> many(100'003);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int32_t>(i);
  const std::vector<real> found = read(NumberType::i32, bytes_of_numbers(many));
  CHECK(std::vector<std::int32_t>(found.begin(), found.end()) == many);
  CHECK(read(NumberType::i32, "").empty());
  std::ifstream nothing("/dev/null");
  std::vector<real> one(1);
  CHECK_THROWS_AS(read_numbers(nothing, NumberType::f16, std::endian::little, std::span(one)),
                  Error);
}

namespace {

// The pattern whose value is nearest, of two the even one, found by trying the neighbours.
std::uint16_t nearest_half(double number) {
  std::uint16_t best = 0;
  for (unsigned bits = 0; bits <= 0x7bff; ++bits) {
    const double distance = std::abs(value_of(bits, 10, 5) - std::abs(number));
    const double least = std::abs(value_of(best, 10, 5) - std::abs(number));
    if (distance < least || (distance == least && bits % 2 == 0)) {
      best = static_cast<std::uint16_t>(bits);
    }
  }
  return static_cast<std::uint16_t>(best | (std::signbit(number) ? 0x8000 : 0));
}

}  // namespace

TEST_CASE("each of the 65,536 numbers of F16 is written as it was read", "[phase2][io]") {
  const std::vector<std::uint16_t> patterns = all_patterns();
  const std::vector<real> numbers = read(NumberType::f16, bytes_of_numbers(patterns));
  int wrong = 0;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const bool quieted = sizeof(real) == 8 && std::isnan(numbers[i]);  // by the processor
    wrong += half_of(numbers[i]) != (patterns[i] | (quieted ? 0x200 : 0));
  }
  CHECK(wrong == 0);
}

TEST_CASE("between two numbers of F16 the nearer is written, and the even one in the middle",
          "[phase2][io]") {
  int wrong = 0;
  for (unsigned bits = 0; bits < 0x7bff; ++bits) {
    const double low = value_of(bits, 10, 5), high = value_of(bits + 1, 10, 5);
    const real middle = static_cast<real>((low + high) / 2);  // exact in a float, too
    const unsigned even = bits + bits % 2;
    for (const real sign : {real{1}, real{-1}}) {
      const unsigned minus = sign < 0 ? 0x8000 : 0;
      wrong += half_of(sign * middle) != (even | minus);
      wrong += half_of(sign * std::nextafter(middle, real{0})) != (bits | minus);
      wrong += half_of(sign * std::nextafter(middle, real{1e6})) != ((bits + 1) | minus);
    }
  }
  CHECK(wrong == 0);
  for (const double number : {0.1, -0.3, 1.0 / 3, 3.14159, -1e-5, 5e-8, 2.9e-8, 1234.5, -60000.0}) {
    CAPTURE(number);
    CHECK(half_of(static_cast<real>(number)) == nearest_half(double{static_cast<real>(number)}));
  }
}

TEST_CASE("what F16 cannot hold: too large, too small, no number", "[phase2][io]") {
  for (const double large : {65504.0, 65519.9, 65520.0, 65536.0, 1e6, 3e38}) {
    CHECK(half_of(static_cast<real>(large)) == 0x7bff);
    CHECK(half_of(static_cast<real>(-large)) == 0xfbff);
  }
  constexpr real infinite = std::numeric_limits<real>::infinity();
  CHECK(half_of(infinite) == 0x7c00);
  CHECK(half_of(-infinite) == 0xfc00);
  CHECK(half_of(0) == 0);
  CHECK(half_of(real{-0.0}) == 0x8000);
  CHECK(half_of(real{0x1p-25}) == 0);  // half of the least number: a tie
  CHECK(half_of(std::nextafter(real{0x1p-25}, real{1})) == 1);
  CHECK(half_of(std::numeric_limits<real>::denorm_min()) == 0);
  CHECK(half_of(-std::numeric_limits<real>::min()) == 0x8000);
  CHECK(half_of(real{0x1.ffep-15}) == 0x400);  // between the largest subnormal and the next: a tie
  CHECK(half_of(std::numeric_limits<real>::quiet_NaN()) == 0x7e00);
  // A payload whose upper bits are none.
  CHECK(half_of(static_cast<real>(std::bit_cast<float>(std::uint32_t{0xff800001}))) == 0xfe00);
}
