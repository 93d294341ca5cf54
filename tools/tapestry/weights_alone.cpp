#include "weights_alone.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tapestry/file.hpp"
#include "tapestry/io/checkpoint.hpp"

namespace tapestry::command {
namespace {

using Json = nlohmann::json;

// The parts of a safetensors file (io/safetensors.hpp). It was read already: it is a valid one.
struct Parts {
  Json header;
  std::size_t data = 0;  // where the numbers begin
};

constexpr std::size_t size_bytes = 8;  // of the header's length

Parts parts_of(const std::vector<std::byte>& file) {
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), size_bytes);
  const std::size_t data = size_bytes + static_cast<std::size_t>(length);
  const char* text = reinterpret_cast<const char*>(file.data());
  return {Json::parse(text + size_bytes, text + data), data};
}

void drop_entries(Json& object, const std::string& prefix) {
  for (auto entry = object.begin(); entry != object.end();) {
    entry = entry.key().starts_with(prefix) ? object.erase(entry) : std::next(entry);
  }
}

// Of what stands in the header: [begin, end) among the numbers, and to whom it belongs.
std::vector<std::pair<std::size_t, std::string>> in_order(const Json& header) {
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__") found.emplace_back(entry["data_offsets"][0], name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void append(std::vector<std::byte>& to, const void* bytes, std::size_t count) {
  const auto* from = static_cast<const std::byte*>(bytes);
  to.insert(to.end(), from, from + count);
}

std::vector<std::byte> written(const Json& header, const std::vector<std::byte>& numbers) {
  std::string text = header.dump();
  text.resize((text.size() + size_bytes - 1) / size_bytes * size_bytes, ' ');
  const std::uint64_t length = text.size();
  std::vector<std::byte> file;
  append(file, &length, size_bytes);
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
  const std::string kind = read_checkpoint(path).kind;
  const std::vector<std::byte> file = bytes_of(path);
  if (kind.empty()) return file;
  auto [header, data] = parts_of(file);
  drop_entries(header, kind + ".");
  if (header.contains("__metadata__")) {
    drop_entries(header["__metadata__"], kind + ".");
    header["__metadata__"].erase("optimizer");
  }
  std::vector<std::byte> numbers;
  for (const auto& [begin, name] : in_order(header)) {
    Json& place = header[name]["data_offsets"];
    const std::size_t count = place[1].get<std::size_t>() - begin, now = numbers.size();
    append(numbers, file.data() + data + begin, count);
    place = {now, now + count};
  }
  return written(header, numbers);
}

}  // namespace tapestry::command
