// Writing .npy files; reading is in npy_read.cpp.
#include "tapestry/io/npy.hpp"

#include <bit>
#include <cstddef>
#include <span>
#include <string>

#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

static_assert(std::endian::native == std::endian::little, "little-endian numbers are written");

// (), (2,), (2, 3): as Python writes it, with a comma after a single size.
std::string shape_text(const Shape& shape) {
  return shape.ndim() == 1 ? "(" + std::to_string(shape[0]) + ",)" : to_string(shape);
}

// All bytes before the numbers, which begin at a multiple of 64 bytes.
std::string preamble(const char* type, const Shape& shape) {
  std::string header = "{'descr': '" + std::string(type) +
                       "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  constexpr std::size_t before = 10;
  header.resize((before + header.size() + 1 + 63) / 64 * 64 - before - 1, ' ');
  header += '\n';
  const std::size_t length = header.size();
  const std::string magic("\x93NUMPY\x01\x00", 8);
  return magic + static_cast<char>(length & 255) + static_cast<char>(length >> 8) + header;
}

void write(const std::filesystem::path& path, const std::string& preamble,
           std::span<const std::byte> numbers) {
  write_file_atomically("write_npy", path, [&](const Append& append) {
    append(std::as_bytes(std::span(preamble)));
    append(numbers);
  });
}

}  // namespace

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  if (!tensor.defined()) throw Error("write_npy: the tensor is undefined: it holds no numbers.");
  const Tensor dense = tensor.contiguous();
  write(path, preamble(sizeof(real) == 4 ? "<f4" : "<f8", tensor.shape()),
        std::as_bytes(std::span(raw(dense), static_cast<std::size_t>(dense.count()))));
}

void write_npy(const std::filesystem::path& path, const Indices& indices) {
  indices.check("write_npy");
  write(path, preamble("<i4", indices.shape), std::as_bytes(std::span(indices.values)));
}

}  // namespace tapestry
