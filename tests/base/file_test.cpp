#include "tapestry/file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "catch.hpp"
#include "open_files.hpp"
#include "tapestry/error.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  write_file_atomically("test", path, std::as_bytes(std::span(text)));
}

// While it exists, no file can be opened; those that are stay so.
class NoFiles {
 public:
  NoFiles() {
    ::getrlimit(RLIMIT_NOFILE, &old_);
    const rlimit none{0, old_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  NoFiles(const NoFiles&) = delete;
  NoFiles& operator=(const NoFiles&) = delete;
  ~NoFiles() { ::setrlimit(RLIMIT_NOFILE, &old_); }

 private:
  rlimit old_{};
};

std::string refusal(const fs::path& path) {
  try {
    write(path, "text");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// While it exists, this process cannot make files longer than that.
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

TEST_CASE("a link to a file that is not there yet is kept, and the file made", "[phase1][io]") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "links");
  fs::create_symlink("second", folder / "links/first");  // a chain of relative links
  fs::create_symlink("../new/a.bin", folder / "links/second");
  write(folder / "links/first", "text");
  CHECK(fs::is_symlink(folder / "links/first"));
  CHECK(fs::is_symlink(folder / "links/second"));
  CHECK(content(folder / "new/a.bin") == "text");
}

TEST_CASE("a link to no file's name is refused", "[phase1][io]") {
  const TemporaryFolder folder;
  fs::create_symlink("nowhere/", folder / "link");
  CHECK(says(refusal(folder / "link"), "the path names no file"));
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(folder.files() == 1);
}

TEST_CASE("a file that cannot be written says why and leaves nothing behind", "[phase1][io]") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "a");
  CHECK(says(refusal(folder / "a"), "test: cannot write " + (folder / "a").string()));
  CHECK(says(refusal(folder / "a"), "it is a folder"));
  CHECK(says(refusal(folder / "b/"), "the path names no file"));
  write(folder / "file", "text");
  CHECK(says(refusal(folder / "file/inside"), "Not a directory"));
  const fs::path too_long = folder / std::string(400, 'x');
  CHECK(says(refusal(too_long), "File name too long"));
  bool asked = false;  // for the bytes
  CHECK_THROWS_AS(write_file_atomically("test", too_long, [&](const Append&) { asked = true; }),
                  Error);
  CHECK_FALSE(asked);
  CHECK(folder.files() == 2);  // the folder and the file
}

TEST_CASE("a file that cannot be opened says why, to write and to read", "[phase1][io]") {
  const TemporaryFolder folder;
  write(folder / "old", "text");
  const auto none = [](std::ifstream&, std::uint64_t) {};
  std::string new_file, device, read;
  {
    const NoFiles scope;
    new_file = refusal(folder / "new");
    device = refusal("/dev/null");
    try {
      read_file("test", folder / "old", none);
    } catch (const Error& error) {
      read = error.what();
    }
  }
  CHECK(says(new_file, "new: Too many open files"));
  CHECK(says(device, "/dev/null: Too many open files"));
  CHECK(says(read, "old: it cannot be opened: Too many open files."));
  CHECK(folder.files() == 1);
}

TEST_CASE("a new file may be read and written as far as the process allows", "[phase1][io]") {
  const TemporaryFolder folder;
  const mode_t before = ::umask(0);
  write(folder / "open", "text");
  ::umask(0026);
  write(folder / "closed", "text");
  ::umask(before);
  CHECK(fs::status(folder / "open").permissions() == fs::perms{0666});
  CHECK(fs::status(folder / "closed").permissions() == fs::perms{0640});
}

TEST_CASE("a file whose place is taken while it is written says so, and is removed",
          "[phase1][io]") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a";
  std::string message;
  try {
    write_file_atomically("test", path, [&](const Append&) { fs::create_directory(path); });
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(says(message, "a: Is a directory"));
  CHECK(folder.files() == 1);
}

TEST_CASE("a full disk is reported, and the device is not replaced", "[phase1][io]") {
  REQUIRE(fs::is_character_file("/dev/full"));
  CHECK(says(refusal("/dev/full"), "/dev/full: No space left on device"));
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("a device is closed once", "[phase1][io]") {
  const auto before = open_files();
  write("/dev/null", "text");
  CHECK(open_files() == before);
}

TEST_CASE("bytes that a file does not have are not read", "[phase1][io]") {
  const TemporaryFolder folder;
  write(folder / "a", "four");
  std::string read(5, ' '), message;
  read_file("test", folder / "a", [&](std::ifstream& file, std::uint64_t bytes) {
    read_bytes(file, read.data(), bytes);
  });
  CHECK(read == "four ");
  try {
    read_file("test", folder / "a",
              [&](std::ifstream& file, std::uint64_t) { read_bytes(file, read.data(), 5); });
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(says(message, "a: it ended, or could not be read further, too early."));
}

TEST_CASE("a file that memory cannot hold is refused by name", "[io]") {
  const TemporaryFolder folder;
  write(folder / "a", "four");
  const auto refused = [&](const auto& read) {
    try {
      read_file("test", folder / "a", [&](std::ifstream&, std::uint64_t) { read(); });
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string message = "test: " + (folder / "a").string() +
                              ": there is not enough memory to read its 4 bytes. Free some, or "
                              "split the file.";
  CHECK(refused([] { throw std::bad_alloc(); }) == message);
  CHECK(refused([] {
          std::string text;
          text.resize(text.max_size() + 1);
        }) == message);
}

TEST_CASE("a link that leads to itself is refused by name", "[phase1][io]") {
  const TemporaryFolder folder;
  fs::create_symlink(folder / "loop", folder / "loop");
  CHECK(says(refusal(folder / "loop"), "test: cannot write " + (folder / "loop").string()));
  CHECK(says(refusal(folder / "loop"), "Too many levels of symbolic links"));
  CHECK(folder.files() == 1);
  std::string message;
  try {
    read_file("test", folder / "loop", [](std::ifstream&, std::uint64_t) {});
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(message.starts_with("test: " + (folder / "loop").string() + ": "));
  CHECK(says(message, "Too many levels of symbolic links."));
}

TEST_CASE("a folder that cannot be made is the reason that is given", "[phase1][io]") {
  const TemporaryFolder folder;
  fs::create_symlink(folder / "nowhere", folder / "link");
  const auto said = refusal(folder / "link" / "a");
  CHECK(says(said, "link/a: "));
  CHECK_FALSE(says(said, "No such file"));  // what opening the file would say next
  CHECK(folder.files() == 1);
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

TEST_CASE("every file is closed, the one with the number 0 too", "[phase1][io]") {
  const TemporaryFolder folder;
  bool closed = false;
  {
    const WithoutInput scope;
    write(folder / "file", "text");
    closed = ::fcntl(0, F_GETFD) < 0;
  }
  CHECK(closed);
  CHECK(content(folder / "file") == "text");
  std::optional<WithoutInput> later;  // the number is free when the folder is opened
  write_file_atomically("test", folder / "file", [&](const Append&) { later.emplace(); });
  closed = ::fcntl(0, F_GETFD) < 0;
  later.reset();
  CHECK(closed);
}

TEST_CASE("a write that a signal interrupts goes on", "[phase1][io]") {
  const TemporaryFolder folder;
  const fs::path pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int end = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(end >= 0);
  ::fcntl(end, F_SETFL, 0);  // from here on, reading waits
  std::string received;
  std::thread reader([&] {  // slower than the writer, which has to wait for it
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
    char part[4096];
    for (ssize_t n; (n = ::read(end, part, sizeof part)) > 0;) {
      received.append(part, static_cast<std::size_t>(n));
    }
  });
  struct sigaction quiet{}, before{};
  quiet.sa_handler = [](int) {};  // without SA_RESTART: a call that waits fails
  ::sigaction(SIGALRM, &quiet, &before);
  const itimerval often{{0, 5000}, {0, 5000}};
  itimerval kept{};  // by which whoever runs the tests may end them
  ::setitimer(ITIMER_REAL, &often, &kept);
  const std::string text(300'000, 'x');  // more than a pipe holds
  std::string problem;
  try {
    write(pipe, text);
  } catch (const Error& error) {
    problem = error.what();
  }
  ::setitimer(ITIMER_REAL, &kept, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  reader.join();
  ::close(end);
  CHECK(problem == "");
  CHECK(received == text);
}
