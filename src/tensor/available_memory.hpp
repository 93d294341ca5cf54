// How much memory is left, as the files of a Linux system tell it.
#pragma once

#include <cstddef>
#include <filesystem>

namespace tapestry {

// The files lie below `root`, which tests replace. The largest number there is, where none of them
// tells anything.
std::size_t available_memory(const std::filesystem::path& root);

}  // namespace tapestry
