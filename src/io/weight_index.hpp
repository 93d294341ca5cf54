// model.safetensors.index.json: which file has which tensor.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace tapestry {

inline constexpr const char* weight_file = "model.safetensors";
inline constexpr const char* weight_index = "model.safetensors.index.json";

// The file of each tensor, by the tensor's name. Throws Error for what is no such index, and for a
// file that is not in the folder of the index.
std::map<std::string, std::string> read_weight_index(const std::filesystem::path& path);

}  // namespace tapestry
