// Random numbers that are the same on every machine, compiler and thread.
//
// Counter-based (Philox 4x32-10; Salmon, Moraes, Dror, Shaw 2011): number i of a seed is a pure
// function of (seed, i). No std:: distribution, whose results differ between libraries.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tapestry/tensor.hpp"

namespace tapestry {

class Random {
 public:
  // Different streams of one seed are independent: one for weights, one for dropout, ...
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  [[nodiscard]] std::uint32_t bits();  // 32 random bits
  [[nodiscard]] double uniform();      // in [0, 1), a multiple of 2^-53
  [[nodiscard]] double normal();       // mean 0, deviation 1

  // 0 .. count - 1, all equally likely; throws Error unless 1 <= count < 2^32.
  [[nodiscard]] Index randint(Index count);

  [[nodiscard]] Tensor uniform(const Shape& shape, double low, double high);
  [[nodiscard]] Tensor normal(const Shape& shape, double mean = 0, double deviation = 1);

  // 0 .. count - 1 in random order; throws Error unless 0 <= count < 2^32.
  [[nodiscard]] std::vector<Index> permutation(Index count);

  // The state of the generator: restored, it continues with the same numbers.
  std::uint64_t position() const { return position_; }
  void seek(std::uint64_t position) { position_ = position; }
  std::uint64_t seed() const { return seed_; }
  std::uint64_t stream() const { return stream_; }

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t position_ = 0;  // in 32-bit words; dropout skips some
  std::uint64_t block_ = ~std::uint64_t{0};
  std::array<std::uint32_t, 4> words_{};  // the words of block_
};

}  // namespace tapestry
