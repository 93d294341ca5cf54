// Named tensors in a file, in the safetensors format that the whole field reads.
//
// A file is: 8 bytes N, little-endian; N bytes of JSON, {"name": {"dtype": "F32", "shape": [2, 3],
// "data_offsets": [0, 24]}, ..., "__metadata__": {"any": "text"}}, padded with spaces; then the
// numbers, little-endian, row-major, one tensor behind the other.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "tapestry/tensor.hpp"

namespace tapestry {

// What a file holds: tensors in the order of their numbers, and free text by name.
struct Safetensors {
  Parameters tensors;
  std::map<std::string, std::string> metadata;

  // Throws Error if there is no tensor of that name; the message names the closest one.
  Tensor operator[](std::string_view name) const;
};

// Writes tensors as they are (F32; F64 in a build where `real` is double), together with text such
// as the model's configuration. Missing folders are made. The file is replaced whole or not at
// all: an interrupted or failed write leaves the old one. Throws Error for an undefined tensor, a
// name used twice, a name "__metadata__", text that is not UTF-8, and for what the system refuses.
void write_safetensors(const std::filesystem::path& path, const Parameters& tensors,
                       const std::map<std::string, std::string>& metadata = {});

// Reads F32 and F64 numbers as `real`. Nothing in the file is trusted: sizes, offsets and names
// are checked before memory is asked for. Throws Error naming the file and what is wrong with it.
Safetensors read_safetensors(const std::filesystem::path& path);

// Copies the file's numbers into the model's tensors of the same names. Throws Error, and changes
// nothing, if shapes differ or names are missing or left over; the message lists them.
void load_parameters(const Parameters& model, const Safetensors& file);

}  // namespace tapestry
