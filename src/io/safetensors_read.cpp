// Reading safetensors.
#include <bit>
#include <fstream>
#include <span>
#include <string>

#include "io/numbers.hpp"
#include "io/safetensors_header.hpp"
#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

// Adds the tensor to the result, or the reason why it was skipped.
void read_tensor(std::ifstream& file, std::uint64_t first_byte, const safetensors::Entry& entry,
                 Safetensors& result) {
  const auto skip = [&](const std::string& why) { result.skipped.push_back({entry.name, why}); };
  if (!entry.dtype.type) {
    return skip("numbers of its dtype, " + std::string(entry.dtype.name) + ", are not read");
  }
  file.seekg(static_cast<std::streamoff>(first_byte + entry.begin));
  const Tensor tensor = Tensor::empty(entry.shape);
  const std::span<real> numbers(raw(tensor), static_cast<std::size_t>(tensor.numel()));
  try {
    read_numbers(file, *entry.dtype.type, std::endian::little, numbers);
    result.tensors.push_back({entry.name, tensor});
  } catch (const InexactNumber& error) {
    skip(error.what());
  }
}

Safetensors read(std::ifstream& file, std::uint64_t bytes) {
  std::uint64_t stated{};
  if (bytes >= sizeof stated) read_bytes(file, &stated, sizeof stated);
  const std::uint64_t length = safetensors::header_length(stated, bytes);
  std::string json(static_cast<std::size_t>(length), '\0');
  read_bytes(file, json.data(), length);
  const std::uint64_t first_byte = safetensors::bytes_before_header + length;
  safetensors::Header header = safetensors::parse_header(json, bytes - first_byte);
  Safetensors result;
  result.metadata = std::move(header.metadata);
  for (const safetensors::Entry& entry : header.entries) {
    read_tensor(file, first_byte, entry, result);
  }
  return result;
}

}  // namespace

Safetensors read_safetensors(const std::filesystem::path& path) {
  Safetensors result;
  read_file("read_safetensors", path,
            [&](std::ifstream& file, std::uint64_t bytes) { result = read(file, bytes); });
  return result;
}

}  // namespace tapestry
