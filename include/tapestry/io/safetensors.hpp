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
#include <vector>

#include "tapestry/tensor.hpp"

namespace tapestry {

// A tensor of a file that was not read, and why: "its number 16777217 is not exact in 32-bit
// floats".
struct Skipped {
  std::string name, why;
};

// What a file holds: tensors in the order of their numbers, and free text by name.
struct Safetensors {
  Parameters tensors = {};
  std::map<std::string, std::string> metadata = {};
  std::vector<Skipped> skipped = {};

  // Throws Error if there is no tensor of that name; the message says why it was skipped, or names
  // the closest one.
  Tensor operator[](std::string_view name) const;
};

// Writes tensors as they are (F32; F64 in a build where `real` is double), together with text such
// as the model's configuration. Missing folders are made. The file is replaced whole or not at
// all: an interrupted or failed write leaves the old one. Throws Error for an undefined tensor, a
// name used twice, a name "__metadata__", text that is not UTF-8, and for what the system refuses.
void write_safetensors(const std::filesystem::path& path, const Parameters& tensors,
                       const std::map<std::string, std::string>& metadata = {});

// Reads as `real`: F32, F16 and BF16 to the last bit, F64 rounded where `real` is float, whole
// numbers (I8 to I64, U8 to U64) and BOOL, as 0 and 1, if all of the tensor are exact. A tensor
// with a whole number that is not (2^24 + 1 as float), or of numbers that stand for others (F8, F6,
// F4, C64), is skipped, and listed as such, so that a counter among the buffers of a model does not
// cost the weights. Nothing in the file is trusted: sizes, offsets and names are checked before
// memory is asked for. Throws Error naming the file and what is wrong with it.
Safetensors read_safetensors(const std::filesystem::path& path);

// Copies the file's numbers into the model's tensors of the same names. Throws Error, and changes
// nothing, if shapes differ, names are missing or left over, or a tensor was skipped; the message
// lists them.
void load_parameters(const Parameters& model, const Safetensors& file);

}  // namespace tapestry
