#include "weights_alone.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "tapestry/file.hpp"
#include "tapestry/io/checkpoint.hpp"

namespace tapestry::command {
namespace {

void append(std::vector<std::byte>& to, const void* bytes, std::size_t count) {
  const auto* from = static_cast<const std::byte*>(bytes);
  to.insert(to.end(), from, from + count);
}

// As io/safetensors.hpp describes it.
std::vector<std::byte> written(const Safetensors& weights) {
  nlohmann::json header;
  std::vector<std::byte> numbers;
  for (const auto& [name, tensor] : weights.tensors) {
    const std::vector<real> values = tensor.values();
    const std::size_t begin = numbers.size();
    append(numbers, values.data(), values.size() * sizeof(real));
    header[name] = {{"dtype", sizeof(real) == 4 ? "F32" : "F64"},
                    {"shape", std::vector<Index>(tensor.shape().begin(), tensor.shape().end())},
                    {"data_offsets", {begin, numbers.size()}}};
  }
  header["__metadata__"] = weights.metadata;
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  std::vector<std::byte> file;
  append(file, &length, sizeof length);
  append(file, text.data(), text.size());
  append(file, numbers.data(), numbers.size());
  return file;
}

}  // namespace

std::vector<std::byte> bytes_of(const std::filesystem::path& path) {
  std::vector<std::byte> bytes;
  read_file("explore", path, [&](std::ifstream& file, std::uint64_t size) {
    bytes.resize(static_cast<std::size_t>(size));
    read_bytes(file, bytes.data(), size);
  });
  return bytes;
}

std::vector<std::byte> weights_alone(const std::filesystem::path& path) {
  const Checkpoint checkpoint = read_checkpoint(path);
  return checkpoint.kind.empty() ? bytes_of(path) : written(checkpoint.weights);
}

}  // namespace tapestry::command
