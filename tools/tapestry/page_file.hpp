// The explorer's page: one file, which needs no other and no network.
#pragma once

#include <filesystem>

#include "recording.hpp"

namespace tapestry::command {

// Writes the page (tools/explorer/) with a recording in it, atomically (file.hpp), and returns its
// size in bytes. Words of the recording are data there: no "<" of theirs is left. Throws Error if
// the file cannot be written.
std::size_t write_page(const std::filesystem::path& path, const Recording& recording);

// The bytes in base64 (RFC 4648), with padding.
std::string base64(const std::vector<std::byte>& bytes);

}  // namespace tapestry::command
