#include "tapestry/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/file_part.hpp"
#include "tapestry/error.hpp"

namespace tapestry {
namespace {

namespace fs = std::filesystem;

// Without waiting for somebody who reads, if it is a pipe with a name: there may never be one.
int open_device(const fs::path& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (file >= 0) ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK);
  return file;
}

// A file being written: a device or pipe itself, or a temporary file that finally replaces the
// target, or is removed on failure.
class NewFile {
 public:
  NewFile(std::string complaint, const fs::path& target, bool temporary)
      : complaint_(std::move(complaint)), place_(target), temporary_(temporary) {
    file_ = temporary ? make_part(target, place_) : open_device(place_);
    if (file_ < 0 && errno == ENXIO) throw Error(complaint_ + "nobody reads from this pipe");
    if (file_ < 0) fail();
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (temporary_) ::unlink(place_.c_str());
    if (file_ >= 0) ::close(file_);
  }

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written != -1) {
        bytes = bytes.subspan(static_cast<std::size_t>(written));
      } else if (errno != EINTR) {
        fail();
      }
    }
  }

  void allow(fs::perms permissions) {
    if (::fchmod(file_, static_cast<mode_t>(permissions)) != 0) fail();
  }

  void close() {
    if (::close(std::exchange(file_, -1)) != 0) fail();
  }

  // Closed only now, because closing ends its lock (file_part.hpp).
  void move_to(const fs::path& target) {
    if (::fsync(file_) != 0 || ::rename(place_.c_str(), target.c_str()) != 0) fail();
    temporary_ = false;
  }

 private:
  [[noreturn]] void fail() const { throw Error(complaint_ + std::strerror(errno)); }

  std::string complaint_;
  fs::path place_;
  bool temporary_;
  int file_;
};

// Where links lead from `path`, be there a file or not. They end: `fs::status` has followed them.
fs::path end_of_links(fs::path path) {
  std::error_code no_link;
  while (true) {
    const fs::path next = fs::read_symlink(path, no_link);
    if (no_link) return path;
    path = path.parent_path() / next;
  }
}

// Makes the renaming itself durable after a power cut. Best effort: some file systems cannot.
void flush_folder(const fs::path& folder) {
  const int opened = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0) return;
  ::fsync(opened);
  ::close(opened);
}

}  // namespace

void write_file_atomically(const char* operation, const fs::path& path,
                           const std::function<void(const Append&)>& write) {
  const std::string complaint = std::string(operation) + ": cannot write " + path.string() + ": ";
  std::error_code problem;
  const fs::file_status status = fs::status(path, problem);
  if (status.type() == fs::file_type::none) throw Error(complaint + problem.message());
  const fs::path target = end_of_links(path);
  if (target.filename().empty()) throw Error(complaint + "the path names no file");
  if (fs::is_directory(status)) throw Error(complaint + "it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    NewFile device(complaint, path, false);
    write([&](std::span<const std::byte> bytes) { device.write(bytes); });
    device.close();
    return;
  }
  problem.clear();
  if (target.has_parent_path()) fs::create_directories(target.parent_path(), problem);
  if (problem) throw Error(complaint + problem.message());
  remove_dead_parts(target);
  NewFile file(complaint, target, true);
  if (fs::exists(status)) file.allow(status.permissions());
  write([&](std::span<const std::byte> bytes) { file.write(bytes); });
  file.move_to(target);
  flush_folder(target.parent_path());
}

void write_file_atomically(const char* operation, const fs::path& path,
                           std::span<const std::byte> bytes) {
  write_file_atomically(operation, path, [&](const Append& append) { append(bytes); });
}

void read_file(const char* operation, const fs::path& path,
               const std::function<void(std::ifstream&, std::uint64_t)>& read) {
  const std::string complaint = std::string(operation) + ": " + path.string() + ": ";
  std::uint64_t bytes{};
  const auto too_large = [&] {
    return Error(complaint + "there is not enough memory to read its " + std::to_string(bytes) +
                 " bytes. Free some, or split the file.");
  };
  try {
    const fs::file_status status = fs::status(path);
    if (!fs::exists(status)) throw Error("there is no such file.");
    if (!fs::is_regular_file(status)) throw Error("it is not a regular file.");
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Error(std::string("it cannot be opened: ") + std::strerror(errno) + ".");
    bytes = fs::file_size(path);
    read(file, bytes);
  } catch (const Error& error) {
    throw Error(complaint + error.what());
  } catch (const fs::filesystem_error& error) {
    throw Error(complaint + error.code().message() + ".");
  } catch (const std::bad_alloc&) {
    throw too_large();
  } catch (const std::length_error&) {  // more than any string or vector can hold
    throw too_large();
  }
}

void read_bytes(std::ifstream& file, void* data, std::uint64_t bytes) {
  file.read(static_cast<char*>(data), static_cast<std::streamsize>(bytes));
  if (!file) throw Error("it ended, or could not be read further, too early.");
}

}  // namespace tapestry
