#include "tapestry/random.hpp"

#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "kernels/philox.hpp"
#include "tapestry/error.hpp"
#include "tensor/random_quantile.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

void check_count(const char* function, Index count, Index least) {
  if (count >= least && count <= std::numeric_limits<std::uint32_t>::max()) return;
  throw Error("random: " + std::string(function) + "(" + std::to_string(count) +
              ") needs a count of " + std::to_string(least) + " .. 4294967295.");
}

}  // namespace

std::uint32_t Random::bits() {
  const std::uint64_t block = position_ / 4;
  if (block != block_) {
    words_ = kernels::philox(block, stream_, seed_);
    block_ = block;
  }
  return words_[position_++ % 4];
}

double Random::uniform() {
  const std::uint64_t high = bits() >> 5, low = bits() >> 6;  // 27 and 26 bits
  return static_cast<double>(high << 26 | low) * 0x1p-53;
}

double Random::normal() { return normal_quantile(uniform() + 0x1p-55); }  // never 0 or 1

Index Random::randint(Index count) {
  check_count("randint", count, 1);
  // Lemire 2019: the high word of a product, rejecting the few values that would be too likely.
  const auto n = static_cast<std::uint32_t>(count);
  const std::uint32_t favoured = (0U - n) % n;
  std::uint64_t product;
  do {
    product = std::uint64_t{bits()} * n;
  } while (static_cast<std::uint32_t>(product) < favoured);
  return static_cast<Index>(product >> 32);
}

Tensor Random::uniform(const Shape& shape, double low, double high) {
  Tensor result = Tensor::empty(shape);
  for (Index i = 0; i < result.numel(); ++i) {
    raw(result)[i] = static_cast<real>(low + (high - low) * uniform());
  }
  return result;
}

Tensor Random::normal(const Shape& shape, double mean, double deviation) {
  Tensor result = Tensor::empty(shape);
  for (Index i = 0; i < result.numel(); ++i) {
    raw(result)[i] = static_cast<real>(mean + deviation * normal());
  }
  return result;
}

std::vector<Index> Random::permutation(Index count) {
  check_count("permutation", count, 0);
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Index{0});
  for (std::size_t i = order.size(); i > 1; --i) {  // Fisher & Yates
    std::swap(order[i - 1], order[static_cast<std::size_t>(randint(static_cast<Index>(i)))]);
  }
  return order;
}

}  // namespace tapestry
