// Files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace tapestry {

// Writes `bytes` to `path`, making missing folders. The bytes go to a temporary file in the same
// folder, are flushed to the disk and then renamed, so that at any moment `path` holds either the
// old content or the new one. A symbolic link keeps pointing where it did; devices and pipes are
// written to and never replaced. Throws Error with the path and the system's reason, leaving the
// old file as it was and no temporary one; `operation` begins the message.
void write_file_atomically(const char* operation, const std::filesystem::path& path,
                           std::span<const std::byte> bytes);

}  // namespace tapestry
