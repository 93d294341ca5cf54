// The explorer's page: one file, which needs no other and no network.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "recording.hpp"

namespace tapestry::command {

struct PageFile {
  std::string name;
  std::vector<std::byte> bytes = {};
};

// The files of a model that a live page opens: how the engine names them, and what they hold.
struct ModelFiles {
  std::size_t model = 0;  // of the recording
  bool is_folder = false;
  std::vector<PageFile> files = {};  // none: too large for the page
};

// Whether the engine was built, so that pages can be live.
bool has_live_page();

// Writes the page (tools/explorer/) with a recording in it, atomically (file.hpp), and returns its
// size in bytes: with models' files, the live page, else the recorded one. Words of the recording
// are data there: no "<" of theirs is left. Throws Error if it cannot be written.
std::size_t write_page(const std::filesystem::path& path, const Recording& recording,
                       const std::vector<ModelFiles>& models = {});

// The bytes in base64 (RFC 4648), with padding.
std::string base64(const std::vector<std::byte>& bytes);

}  // namespace tapestry::command
