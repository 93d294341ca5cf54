#include "file.hpp"

#include <sys/resource.h>

#include <csignal>
#include <span>
#include <string>

#include "catch.hpp"
#include "tapestry/error.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  write_file_atomically("test", path, std::as_bytes(std::span(text)));
}

std::string refusal(const fs::path& path) {
  try {
    write(path, "text");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// While it lives, this process cannot make files longer than that.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit old_{};
  void (*handler_)(int) = nullptr;
};

bool says(const std::string& message, const std::string& words) {
  INFO(message);
  return message.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a file is written whole, and replaced, with nothing left beside it", "[phase1][io]") {
  const TemporaryFolder folder;
  write(folder / "a.bin", std::string("one\0two", 7));
  CHECK(content(folder / "a.bin") == std::string("one\0two", 7));
  write(folder / "a.bin", "");
  CHECK(fs::exists(folder / "a.bin"));
  CHECK(content(folder / "a.bin").empty());
  CHECK(folder.files() == 1);
}

TEST_CASE("writing a file makes the folders it needs", "[phase1][io]") {
  const TemporaryFolder folder;
  write(folder / "some/new/folder/a.bin", "text");
  CHECK(content(folder / "some/new/folder/a.bin") == "text");
}

TEST_CASE("a replaced file keeps its permissions, a link its target", "[phase1][io]") {
  const TemporaryFolder folder;
  write(folder / "a.bin", "old");
  fs::permissions(folder / "a.bin", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(folder / "a.bin", folder / "link");
  write(folder / "link", "new");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(content(folder / "a.bin") == "new");
  CHECK(fs::status(folder / "a.bin").permissions() ==
        (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("a file that cannot be written says why and leaves nothing behind", "[phase1][io]") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "a");
  CHECK(says(refusal(folder / "a"), "test: cannot write " + (folder / "a").string()));
  CHECK(says(refusal(folder / "a"), "it is a folder"));
  CHECK(says(refusal(folder / "b/"), "the path names no file"));
  write(folder / "file", "text");
  CHECK(says(refusal(folder / "file/inside"), "Not a directory"));
  CHECK(says(refusal(folder / std::string(400, 'x')), "File name too long"));
  CHECK(folder.files() == 2);  // the folder and the file
}

TEST_CASE("a full disk is reported, and the device is not replaced", "[phase1][io]") {
  REQUIRE(fs::is_character_file("/dev/full"));
  CHECK(says(refusal("/dev/full"), "/dev/full: No space left on device"));
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("a write that fails half-way leaves the old file and no other", "[phase1][io]") {
  // A limit on file size makes write(2) fail after some bytes, as a full disk would.
  const TemporaryFolder folder;
  write(folder / "a.bin", "old");
  std::string message;
  {
    const FileSizeLimit limit(1000);
    try {
      write(folder / "a.bin", std::string(5000, 'x'));
    } catch (const Error& error) {
      message = error.what();
    }
  }
  CHECK(says(message, "a.bin: File too large"));
  CHECK(content(folder / "a.bin") == "old");
  CHECK(folder.files() == 1);
}
