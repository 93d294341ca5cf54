// Files that one step writes and another reads.
#pragma once

#include <filesystem>
#include <string>

#include "tapestry/error.hpp"
#include "tapestry/io/safetensors.hpp"

namespace tapestry {

// The tensors of such a file. Throws Error as read_safetensors does; if the file does not exist,
// the message ends with `if_missing`, which says how to get it. (For models: read_transformer.)
inline Safetensors read_saved(const std::string& path, const std::string& if_missing) {
  if (!std::filesystem::exists(path)) throw Error(path + " is not there yet: " + if_missing);
  return read_safetensors(path);
}

}  // namespace tapestry
