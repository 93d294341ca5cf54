// The header of a safetensors file, shared by all that read one. Nothing in it is used before it
// was checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/numbers.hpp"
#include "tapestry/shape.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry::safetensors {

struct Dtype {
  std::string_view name;
  std::uint64_t bits;
  std::optional<NumberType> type = {};  // none: such tensors are skipped
};

// The header's entry of one tensor. Offsets are bytes from the first byte of data.
struct Entry {
  std::string name;
  Shape shape;
  Dtype dtype;
  std::uint64_t begin, end;
};

struct Header {
  std::vector<Entry> entries;  // in the order of their data
  std::map<std::string, std::string> metadata;
};

// The length of the JSON, which the first eight bytes of a file state. Throws Error if the file is
// too short for it, or for its statement.
constexpr std::uint64_t bytes_before_header = 8;
std::uint64_t header_length(std::uint64_t stated, std::uint64_t file_bytes);

// Throws Error unless the JSON is a header whose tensors fill `data_bytes` without gaps.
Header parse_header(const std::string& json, std::uint64_t data_bytes);

// The same of a whole file in memory; `data` becomes what follows the header.
Header parse_header(std::span<const std::byte> file, std::span<const std::byte>& data);

// Throws Error unless these tensors can be written to one file.
void check_names(const Parameters& tensors);

}  // namespace tapestry::safetensors
