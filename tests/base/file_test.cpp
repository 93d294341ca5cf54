#include "tapestry/file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "base/file_part.hpp"
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

// A process that writes 5000 bytes and, after the first 1000, gets a signal that it ends by, or
// waits in.
class Writer {
 public:
  Writer(const fs::path& path, void (*handler)(int)) : process_(::fork()) {
    if (process_ == 0) {
      std::signal(SIGXFSZ, handler);
      const rlimit limit{1000, 1000}, no_core{0, 0};
      ::setrlimit(RLIMIT_CORE, &no_core);
      ::setrlimit(RLIMIT_FSIZE, &limit);
      try {
        write(path, std::string(5000, 'x'));
      } catch (...) {  // a child must not go on as a second program of tests
      }
      ::_exit(0);
    }
    if (handler == SIG_DFL) wait();
    while (!ended() && !in_the_middle(path)) std::this_thread::yield();
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { kill(); }

  bool ended() const { return process_ < 0; }
  void kill() {
    if (ended()) return;
    ::kill(process_, SIGKILL);
    wait();
  }

 private:
  void wait() {
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }
  bool in_the_middle(const fs::path& path) const {
    for (const auto& entry : fs::directory_iterator(path.parent_path())) {
      const std::string name = entry.path().filename().string();
      const bool own = name.find("-" + std::to_string(process_) + "-") != std::string::npos;
      if (own && fs::file_size(entry.path()) == 1000) return true;
    }
    return false;
  }

  pid_t process_;
};

// While it exists, the first file that is opened gets the number 0.
class WithoutInput {
 public:
  WithoutInput() : input_(::dup(0)) { ::close(0); }
  WithoutInput(const WithoutInput&) = delete;
  WithoutInput& operator=(const WithoutInput&) = delete;
  ~WithoutInput() {
    ::dup2(input_, 0);
    ::close(input_);
  }

 private:
  int input_;
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

#if !defined(__SANITIZE_THREAD__)  // it puts signals off until the write has failed
TEST_CASE("what a killed writer left is removed by the next, what a living one writes is not",
          "[phase1][io]") {
  const TemporaryFolder folder;
  write(folder / "a.bin", "old");
  write(folder / "a.bin.part-of-something-else", "stays");
  Writer alive(folder / "a.bin", [](int) { ::pause(); });
  const Writer dead(folder / "a.bin", SIG_DFL);
  CHECK(dead.ended());
  CHECK_FALSE(alive.ended());
  CHECK(content(folder / "a.bin") == "old");
  CHECK(folder.files() == 4);  // with a part of each writer
  write(folder / "b.bin", "new");
  CHECK(folder.files() == 5);  // parts of another file
  write(folder / "a.bin", "new");
  CHECK(content(folder / "a.bin") == "new");
  CHECK(folder.files() == 4);  // without that of the dead one
  alive.kill();
  write(folder / "a.bin", "newer");
  CHECK(folder.files() == 3);
}
#endif

TEST_CASE("a part is named by its file, its machine (FNV-1a of its name) and its process",
          "[phase1][io]") {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  std::uint64_t hash = 0x811C9DC5;
  for (const char c : std::string(host)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193 % 0x100000000;
  }
  char digits[17];
  std::snprintf(digits, sizeof digits, "%08llx", static_cast<unsigned long long>(hash));
  const TemporaryFolder folder;
  const std::string rest = std::string(".part-") + digits + "-" + std::to_string(::getpid()) + "-";
  for (const std::size_t length : {1, 200, 250}) {
    fs::path part;
    const int file = make_part(folder / std::string(length, 'x'), part);
    REQUIRE(file >= 0);
    ::close(file);
    const std::string start = std::string(std::min<std::size_t>(length, 200), 'x') + rest;
    const std::string name = part.filename().string();
    CHECK(name.starts_with(start));
    CHECK(name.find_first_not_of("0123456789", start.size()) == std::string::npos);
  }
  // Parts of other machines stay, whoever has locked them.
  write(folder / "a.part-00000000-1-1", "of another machine");
  write(folder / "a", "text");
  CHECK(folder.files() == 5);
}

TEST_CASE("a link that leads to itself is refused by name", "[phase1][io]") {
  const TemporaryFolder folder;
  fs::create_symlink(folder / "loop", folder / "loop");
  CHECK(says(refusal(folder / "loop"), "test: cannot write " + (folder / "loop").string()));
  CHECK(says(refusal(folder / "loop"), "Too many levels of symbolic links"));
  CHECK(folder.files() == 1);
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

#if !defined(__SANITIZE_THREAD__)
TEST_CASE("looking for dead parts leaves no file open", "[phase1][io]") {
  const TemporaryFolder folder;
  write(folder / "a.bin", "old");
  const auto open = [] { return std::distance(fs::directory_iterator("/proc/self/fd"), {}); };
  Writer alive(folder / "a.bin", [](int) { ::pause(); });
  const auto before = open();
  write(folder / "a.bin", "new");
  CHECK(open() == before);
}
#endif

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
  const itimerval often{{0, 5000}, {0, 5000}}, never{};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  const std::string text(300'000, 'x');  // more than a pipe holds
  std::string problem;
  try {
    write(pipe, text);
  } catch (const Error& error) {
    problem = error.what();
  }
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  reader.join();
  ::close(end);
  CHECK(problem == "");
  CHECK(received == text);
}
