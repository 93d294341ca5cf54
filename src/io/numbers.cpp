#include "io/numbers.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tapestry/file.hpp"

namespace tapestry {
namespace {

// Types without a C++ number type, by their bits.
struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};
struct Boolean {
  std::uint8_t bits;
};

// Calls `work` with a number of that type.
template <class Work>
auto with_number_of(NumberType type, Work work) {
  switch (type) {
    case NumberType::f16:
      return work(Half{});
    case NumberType::bf16:
      return work(Brain{});
    case NumberType::f32:
      return work(float{});
    case NumberType::f64:
      return work(double{});
    case NumberType::i8:
      return work(std::int8_t{});
    case NumberType::i16:
      return work(std::int16_t{});
    case NumberType::i32:
      return work(std::int32_t{});
    case NumberType::i64:
      return work(std::int64_t{});
    case NumberType::u8:
      return work(std::uint8_t{});
    case NumberType::u16:
      return work(std::uint16_t{});
    case NumberType::u32:
      return work(std::uint32_t{});
    case NumberType::u64:
      return work(std::uint64_t{});
    case NumberType::boolean:
      return work(Boolean{});
  }
  throw Error("numbers: this type is unknown.");
}

float float_of(Brain number) { return std::bit_cast<float>(std::uint32_t{number.bits} << 16); }

// Without branches, so that many are converted at once.
float float_of(Half number) {
  const std::uint32_t bits = number.bits, sign = (bits & 0x8000) << 16, fraction = bits & 1023;
  const std::uint32_t size = (bits & 0x7fff) << 13;  // its exponent is to be 112 higher
  const std::uint32_t wider = size + (std::uint32_t{112} << 23);
  const std::uint32_t unbounded = size | 0x7f800000;  // infinity, or NaN with its payload
  const auto subnormal =
      std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<int>(fraction)) * 0x1p-24F);
  const std::uint32_t otherwise = (bits & 0x7c00) == 0x7c00 ? unbounded : wider;
  return std::bit_cast<float>(sign | ((bits & 0x7c00) == 0 ? subnormal : otherwise));
}

float float_of(Boolean number) {
  if (number.bits <= 1) return number.bits;
  throw InexactNumber("its number " + std::to_string(number.bits) +
                      " is neither false (0) nor true (1)");
}

// True if the digits between the highest and the lowest one fit into those of `real`.
template <class Whole>
bool is_exact(Whole number) {
  const auto wide = static_cast<std::uint64_t>(number);
  const std::uint64_t size = number < 0 ? 0 - wide : wide;
  return static_cast<int>(std::bit_width(size)) - std::countr_zero(size) <=
         std::numeric_limits<real>::digits;
}

template <class Number>
void convert(Number number, real& to) {
  if constexpr (std::is_integral_v<Number>) {
    if (!is_exact(number)) {
      throw InexactNumber("its number " + std::to_string(number) + " is not exact in " +
                          std::to_string(8 * sizeof(real)) + "-bit floats");
    }
    to = static_cast<real>(number);
  } else if constexpr (std::is_floating_point_v<Number>) {
    to = static_cast<real>(number);
  } else {
    to = float_of(number);
  }
}

template <class Number>
void convert(Number number, std::int32_t& to) {
  if constexpr (std::is_integral_v<Number>) {
    if (!std::in_range<std::int32_t>(number)) {
      throw InexactNumber("its number " + std::to_string(number) + " does not fit into 32 bits");
    }
    to = static_cast<std::int32_t>(number);
  } else {
    throw Error("numbers: only whole numbers are read as such.");
  }
}

template <class Number, bool reversed>
Number number_at(const std::byte* place) {
  std::array<std::byte, sizeof(Number)> bytes;
  std::memcpy(bytes.data(), place, sizeof(Number));
  if (reversed) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<Number>(bytes);
}

template <class Number, bool reversed, class To>
void convert_each(const std::byte* bytes, std::span<To> to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    convert(number_at<Number, reversed>(bytes + i * sizeof(Number)), to[i]);
  }
}

template <class Number, class To>
void convert_all(const std::byte* bytes, std::endian order, std::span<To> to) {
  if (order != std::endian::native) return convert_each<Number, true>(bytes, to);
  if constexpr (std::is_same_v<Number, To>) {
    if (!to.empty()) std::memcpy(to.data(), bytes, to.size_bytes());
  } else {
    convert_each<Number, false>(bytes, to);
  }
}

// In pieces, so that there is never a second copy of all the numbers in memory.
template <class Number, class To>
void read_all(std::ifstream& file, std::endian order, std::span<To> to) {
  if constexpr (std::is_same_v<Number, To>) {
    if (order == std::endian::native) return read_bytes(file, to.data(), to.size_bytes());
  }
  constexpr std::size_t most = 16384;
  std::vector<std::byte> bytes(std::min(most, to.size()) * sizeof(Number));
  while (!to.empty()) {
    const std::size_t count = std::min(most, to.size());
    read_bytes(file, bytes.data(), count * sizeof(Number));
    convert_all<Number>(bytes.data(), order, to.first(count));
    to = to.subspan(count);
  }
}

}  // namespace

std::size_t bytes_of(NumberType type) {
  return with_number_of(type, [](auto number) { return sizeof number; });
}

bool is_whole(NumberType type) {
  return with_number_of(type, [](auto number) { return std::is_integral_v<decltype(number)>; });
}

void read_numbers(std::ifstream& file, NumberType type, std::endian order, std::span<real> to) {
  with_number_of(type, [&](auto number) { read_all<decltype(number)>(file, order, to); });
}

void read_numbers(std::ifstream& file, NumberType type, std::endian order,
                  std::span<std::int32_t> to) {
  with_number_of(type, [&](auto number) { read_all<decltype(number)>(file, order, to); });
}

void convert_numbers(const std::byte* bytes, NumberType type, std::endian order,
                     std::span<real> to) {
  with_number_of(type, [&](auto number) { convert_all<decltype(number)>(bytes, order, to); });
}

std::uint16_t half_of(real number) {
  using Bits = std::conditional_t<sizeof(real) == 4, std::uint32_t, std::uint64_t>;
  constexpr int fraction = std::numeric_limits<real>::digits - 1, surplus = fraction - 10;
  constexpr Bits infinity = std::bit_cast<Bits>(std::numeric_limits<real>::infinity());
  const Bits bits = std::bit_cast<Bits>(number), sign = bits >> (8 * sizeof(real) - 16) & 0x8000;
  const Bits size = bits & (std::numeric_limits<Bits>::max() >> 1);
  const auto with_sign = [&](Bits half) { return static_cast<std::uint16_t>(sign | half); };
  if (size >= infinity) {
    const Bits payload = (size - infinity) >> surplus;
    return with_sign(0x7c00 | (size > infinity && payload == 0 ? 0x200 : payload));
  }
  const real magnitude = std::bit_cast<real>(size);
  if (magnitude < real{0x1p-14}) {  // the last digit of this sum is 2^-24, as that of subnormals
    constexpr real shift = real{Bits{1} << fraction} * real{0x1p-24};
    return with_sign(std::bit_cast<Bits>(magnitude + shift) - std::bit_cast<Bits>(shift));
  }
  const Bits half = (Bits{1} << (surplus - 1)) - 1 + (size >> surplus & 1);  // a tie: up if odd
  constexpr Bits lower = Bits{std::numeric_limits<real>::max_exponent - 16} << fraction;
  return with_sign(std::min<Bits>((size - lower + half) >> surplus, 0x7bff));
}

}  // namespace tapestry
