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

// All bytes before the numbers, which begin at a multiple of 64 bytes: 128, of which the longest
// shape, six axes of less than 2^60 elements, leaves some blank. Version 1.0 tells how many bytes
// follow its first ten: 118, 0x76.
std::string preamble(const char* type, const Shape& shape) {
  std::string text("\x93NUMPY\x01\x00\x76\x00", 10);
  text += "{'descr': '" + std::string(type) +
          "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  text.resize(127, ' ');
  return text + '\n';
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
        std::as_bytes(std::span(raw(dense), static_cast<std::size_t>(dense.numel()))));
}

void write_npy(const std::filesystem::path& path, const Indices& indices) {
  indices.check("write_npy");
  write(path, preamble("<i4", indices.shape), std::as_bytes(std::span(indices.values)));
}

}  // namespace tapestry
