// Files: errors of reading name the file; writing is atomic (the whole file or nothing).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>

namespace tapestry {

using Append = std::function<void(std::span<const std::byte>)>;

// Writes to `path` what `write` appends, making missing folders. The bytes go to a temporary file
// in the same folder, are flushed to the disk and then renamed, so that at any moment `path` holds
// either the old content or the new one. A symbolic link keeps pointing where it did, also if no
// file is there yet; devices and pipes are written to and never replaced. Throws Error with the
// path and the system's reason, and what `write` throws, leaving the old file as it was and no
// temporary one; `operation` begins the message. Temporary files that a killed process left for
// `path` are removed, too.
void write_file_atomically(const char* operation, const std::filesystem::path& path,
                           const std::function<void(const Append& append)>& write);

// The same with all bytes at once.
void write_file_atomically(const char* operation, const std::filesystem::path& path,
                           std::span<const std::byte> bytes);

// Calls `read` with the opened file and its size in bytes. Throws Error if there is no such file,
// if it is not a regular one (a folder, a device), if it cannot be opened, or if `read` finds no
// memory (std::bad_alloc, std::length_error). "operation: path: " begins these messages and those
// of every Error that `read` throws.
void read_file(const char* operation, const std::filesystem::path& path,
               const std::function<void(std::ifstream& file, std::uint64_t bytes)>& read);

// The next bytes of the file; throws Error if it ends before that.
void read_bytes(std::ifstream& file, void* data, std::uint64_t bytes);

}  // namespace tapestry
