// Named tensors in a file, in the safetensors format.
//
// A file is: 8 bytes N, little-endian; N bytes of JSON, {"name": {"dtype": "F32", "shape": [2, 3],
// "data_offsets": [0, 24]}, ..., "__metadata__": {"any": "text"}}, padded with spaces; then the
// numbers, little-endian, row-major, one tensor after the other.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tapestry/tensor.hpp"

namespace tapestry {

// A tensor of a file that was skipped, and why: "its number 16777217 is not exact in 32-bit
// floats".
struct Skipped {
  std::string name, why;
};

// The content of a file: tensors in the order of their data, and free text by name.
struct Safetensors {
  Parameters tensors = {};
  std::map<std::string, std::string> metadata = {};
  std::vector<Skipped> skipped = {};

  // Throws Error if there is no tensor of that name; the message says why it was skipped, or names
  // the closest one.
  [[nodiscard]] Tensor operator[](std::string_view name) const;
};

// How numbers are stored: as they are (F32; F64 in a build where `real` is double), or in 16 bits
// (F16), which keep three digits: rounded to the nearest, of two equally near ones to the even one.
// What is finite stays so: at most 65504 as F16. Infinities and NaN stay, too.
enum class Precision { full, half };

// Writes tensors together with text such as the model's configuration. Missing folders are made.
// The file is written atomically: an interrupted or failed write leaves the old one. Throws Error
// for an undefined tensor, a name used twice, a name "__metadata__", text that is not UTF-8, and
// for a failed system call.
void write_safetensors(const std::filesystem::path& path, const Parameters& tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       Precision precision = Precision::full);

// Reads as `real`: F32, F16 and BF16 exactly, F64 rounded where `real` is float, whole numbers (I8
// to I64, U8 to U64) and BOOL, as 0 and 1, if all of the tensor are exact. A tensor with a whole
// number that is not (2^24 + 1 as float), or of an unsupported type (F8, F6, F4, C64), is skipped
// and listed, so that a counter among a model's buffers does not prevent reading the weights. The
// file is not trusted: sizes, offsets and names are checked before memory is allocated. Throws
// Error with the file and the reason.
[[nodiscard]] Safetensors read_safetensors(const std::filesystem::path& path);

// Copies the file's numbers into the model's tensors of the same names. Throws Error, and changes
// nothing, if shapes differ, names are missing or surplus, or a tensor was skipped; the message
// lists them.
void load_parameters(const Parameters& model, const Safetensors& file);

}  // namespace tapestry
