// Arrays in the IDX format of the MNIST files (LeCun, Cortes, Burges): images and labels.
//
//   const Tensor images = read_idx("train-images-idx3-ubyte") / 255;      // (60000, 28, 28)
//   const Indices labels = read_idx_indices("train-labels-idx1-ubyte");  // (60000)
//
// A file is, big-endian: two zero bytes; one for the type of numbers (0x08 u8, 0x09 i8, 0x0B i16,
// 0x0C i32, 0x0D f32, 0x0E f64); one for how many axes; the size of each in four; the numbers.
#pragma once

#include <filesystem>

#include "tapestry/tensor.hpp"

namespace tapestry {

// The first reads all types as `real`, the second only whole numbers. Only f64 is rounded, where
// `real` is float: a whole number that is not exact as `real`, such as 2^24 + 1, is refused. The
// file is not trusted: its length must fit type and sizes before memory is allocated. Both throw
// Error with the file and the reason; for a .gz, as these files are published, with how to unpack
// it.
[[nodiscard]] Tensor read_idx(const std::filesystem::path& path);
[[nodiscard]] Indices read_idx_indices(const std::filesystem::path& path);

}  // namespace tapestry
