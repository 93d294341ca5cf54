// Philox 4x32 (Salmon, Moraes, Dror, Shaw 2011): ten rounds of multiplying and mixing (for dropout
// seven) turn a 128-bit counter, the number of a block and a stream, into four random words, keyed
// by a seed.
#pragma once

#include <array>
#include <cstdint>

namespace tapestry::kernels {

struct Philox {
  static constexpr int rounds = 10;
  static constexpr int fewest_rounds = 7;  // that pass all tests of BigCrush, says the paper
  static constexpr std::uint64_t multiplier0 = 0xD2511F53, multiplier1 = 0xCD9E8D57;
  static constexpr std::uint32_t step0 = 0x9E3779B9, step1 = 0xBB67AE85;
};

inline std::array<std::uint32_t, 4> philox(std::uint64_t block, std::uint64_t stream,
                                           std::uint64_t seed, int rounds = Philox::rounds) {
  auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  std::array<std::uint32_t, 4> c = {low(block), high(block), low(stream), high(stream)};
  std::uint32_t key0 = low(seed), key1 = high(seed);
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t product0 = Philox::multiplier0 * c[0];
    const std::uint64_t product1 = Philox::multiplier1 * c[2];
    c = {high(product1) ^ c[1] ^ key0, low(product1), high(product0) ^ c[3] ^ key1, low(product0)};
    key0 += Philox::step0;
    key1 += Philox::step1;
  }
  return c;
}

}  // namespace tapestry::kernels
