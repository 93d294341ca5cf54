// Conversion of numbers in files to numbers in memory, shared by safetensors and .npy.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>

#include "tapestry/error.hpp"
#include "tapestry/real.hpp"

namespace tapestry {

// f16: 5 bits of exponent, 10 of fraction (IEEE half). bf16: the upper half of an f32.
// boolean: a byte, 0 or 1.
enum class NumberType { f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, boolean };

std::size_t bytes_of(NumberType type);
bool is_whole(NumberType type);  // i8 to u64

// A number that cannot be converted exactly.
class InexactNumber : public Error {
 public:
  using Error::Error;
};

// Reads as many numbers as the span holds. Exact: f16, bf16 and f32 keep sign, subnormals,
// infinities and the payload of a NaN. Only f64 is rounded, where `real` is float. Throws
// InexactNumber for a whole number that `real` does not hold exactly (up to 2^24 float holds all,
// then every second, ...), and for a boolean that is neither 0 nor 1.
void read_numbers(std::ifstream& file, NumberType type, std::endian order, std::span<real> to);

// The same for whole numbers. Throws InexactNumber for one that does not fit, and Error for a type
// that is not whole.
void read_numbers(std::ifstream& file, NumberType type, std::endian order,
                  std::span<std::int32_t> to);

// The same for bytes in memory, aligned or not: as many numbers as `to` holds.
void convert_numbers(const std::byte* bytes, NumberType type, std::endian order,
                     std::span<real> to);

// The bits of the nearest f16, of two equally near ones the even one. Numbers beyond its range
// become the largest finite one, 65504; infinities stay. A NaN stays one, with its sign and the
// upper ten bits of its payload, so that what was read as f16 is written with the same bits.
std::uint16_t half_of(real number);

}  // namespace tapestry
