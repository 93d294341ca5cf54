// The bytes of a model's files, as a live page carries them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace tapestry::command {

// Of any file. Throws Error if it cannot be read.
std::vector<std::byte> bytes_of(const std::filesystem::path& path);

// Of a checkpoint (io/checkpoint.hpp) without the optimizer's state, which is two thirds of it: the
// same weights in the same order, as `real` (which is the precision of a checkpoint that this build
// wrote), and the same metadata. A file of weights alone stays as it is. Throws Error as
// read_checkpoint does.
std::vector<std::byte> weights_alone(const std::filesystem::path& path);

}  // namespace tapestry::command
