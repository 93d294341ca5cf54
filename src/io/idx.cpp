// Reading IDX files. Nothing in the file is used before it was checked.
#include "tapestry/io/idx.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string>
#include <vector>

#include "io/numbers.hpp"
#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

struct Array {
  NumberType type;
  Shape shape;
};

NumberType type_of(unsigned code) {
  switch (code) {
    case 0x08:
      return NumberType::u8;
    case 0x09:
      return NumberType::i8;
    case 0x0B:
      return NumberType::i16;
    case 0x0C:
      return NumberType::i32;
    case 0x0D:
      return NumberType::f32;
    case 0x0E:
      return NumberType::f64;
    default:
      throw Error("its numbers are of type " + std::to_string(code) +
                  ": IDX has 8, 9, 11, 12, 13 and 14.");
  }
}

void check_start(const std::array<unsigned char, 4>& start) {
  if (start[0] == 0x1F && start[1] == 0x8B) {
    throw Error("it is compressed. Unpack it first: gunzip --keep FILE");
  }
  if (start[0] == 'P' && start[1] == 'K') throw Error("it is compressed. Unpack it first: unzip.");
  if (start[0] != 0 || start[1] != 0) {
    throw Error("it is not an IDX file, which begins with two zero bytes.");
  }
  if (start[3] < 1 || start[3] > Shape::max_ndim) {
    throw Error("it has " + std::to_string(start[3]) + " axes: from 1 to " +
                std::to_string(Shape::max_ndim) + " can be read.");
  }
}

Shape read_shape(std::ifstream& file, std::size_t rank) {
  std::vector<Index> sizes;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    std::array<unsigned char, 4> bytes{};
    read_bytes(file, bytes.data(), bytes.size());
    sizes.push_back(Index{bytes[0]} << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3]);
  }
  return Shape(std::span<const Index>(sizes));  // checks how large
}

// Leaves the file at the first number.
Array read_header(std::ifstream& file, std::uint64_t file_bytes) {
  std::array<unsigned char, 4> start{};
  if (file_bytes < start.size()) throw Error("it is too short to be an IDX file.");
  read_bytes(file, start.data(), start.size());
  check_start(start);
  const std::uint64_t before = 4 + 4 * std::uint64_t{start[3]};
  if (file_bytes < before) throw Error("its sizes are cut off.");
  Array array{type_of(start[2]), read_shape(file, start[3])};
  const std::uint64_t bytes = file_bytes - before, item = bytes_of(array.type);
  const auto count = static_cast<std::uint64_t>(array.shape.numel());
  if (bytes % item == 0 && bytes / item == count) return array;
  throw Error("its shape " + to_string(array.shape) + " asks for " + std::to_string(count) +
              " numbers of " + std::to_string(item) + " bytes, but there are " +
              std::to_string(bytes) + " bytes" +
              (bytes / item < count ? ": the file is cut off." : ": something follows them."));
}

Tensor read_tensor(std::ifstream& file, std::uint64_t file_bytes) {
  const Array array = read_header(file, file_bytes);
  Tensor tensor = Tensor::empty(array.shape);
  try {
    read_numbers(file, array.type, std::endian::big,
                 std::span(raw(tensor), static_cast<std::size_t>(tensor.numel())));
  } catch (const InexactNumber& error) {
    throw Error(error.what() + std::string(". Use read_idx_indices."));
  }
  return tensor;
}

Indices read_indices(std::ifstream& file, std::uint64_t file_bytes) {
  const Array array = read_header(file, file_bytes);
  if (!is_whole(array.type)) throw Error("indices must be whole numbers. Use read_idx.");
  std::vector<std::int32_t> values(static_cast<std::size_t>(array.shape.numel()));
  read_numbers(file, array.type, std::endian::big, std::span(values));
  return {array.shape, std::move(values)};
}

}  // namespace

Tensor read_idx(const std::filesystem::path& path) {
  Tensor result;
  read_file("read_idx", path,
            [&](std::ifstream& file, std::uint64_t bytes) { result = read_tensor(file, bytes); });
  return result;
}

Indices read_idx_indices(const std::filesystem::path& path) {
  Indices result;
  read_file("read_idx_indices", path,
            [&](std::ifstream& file, std::uint64_t bytes) { result = read_indices(file, bytes); });
  return result;
}

}  // namespace tapestry
