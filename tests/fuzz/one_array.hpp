// The properties required of any file with one array: .npy and IDX.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "fuzz.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry::fuzz {

// Reads the bytes as a file, as numbers and as indices; if both succeed, they are equal.
inline void read_both_ways(const std::uint8_t* data, std::size_t size,
                           Tensor (*read)(const std::filesystem::path&),
                           Indices (*read_indices)(const std::filesystem::path&)) {
  const File input(text_of(data, size));
  Tensor tensor;
  Indices indices;
  const bool numbers = done([&] { tensor = read(input.path()); });
  const bool whole = done([&] { indices = read_indices(input.path()); });
  if (numbers) require(tensor.numel() <= Index(size), "no more numbers than bytes");
  if (!numbers || !whole) return;
  require(tensor.shape() == indices.shape, "one shape, however it is read");
  const std::vector<real> values = tensor.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    require(double{values[i]} == indices.values[i], "the same number, however it is read");
  }
}

}  // namespace tapestry::fuzz
