// Parts: the names they get, and what is done with those that a killed writer left.
#include "base/file_part.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <thread>

#include "catch.hpp"
#include "open_files.hpp"
#include "tapestry/file.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  write_file_atomically("test", path, std::as_bytes(std::span(text)));
}

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

}  // namespace

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

TEST_CASE("looking for dead parts leaves no file open", "[phase1][io]") {
  const TemporaryFolder folder;
  write(folder / "a.bin", "old");
  Writer alive(folder / "a.bin", [](int) { ::pause(); });
  const auto before = open_files();
  write(folder / "a.bin", "new");
  CHECK(open_files() == before);
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
  fs::path nowhere;
  CHECK(make_part(folder / "none/x", nowhere) == -1);
  CHECK(errno == ENOENT);
  // Parts of other machines stay, whoever has locked them.
  write(folder / "a.part-00000000-1-1", "of another machine");
  write(folder / "a", "text");
  CHECK(folder.files() == 5);
}

TEST_CASE("a part has a name that no file has, whatever went wrong before", "[phase1][io]") {
  const TemporaryFolder folder;
  fs::path part, next;
  ::close(make_part(folder / "a", part));
  const std::string name = part.string();
  const std::size_t dash = name.rfind('-') + 1;
  const int serial = std::stoi(name.substr(dash));
  // To write these two takes two numbers, too.
  for (const int taken : {3, 4}) write(name.substr(0, dash) + std::to_string(serial + taken), "");
  const int again = make_part(folder / "a", next);
  CHECK(again >= 0);
  CHECK(fs::file_size(next) == 0);
  CHECK(folder.files() == 4);
  ::close(again);
  errno = EEXIST;
  const int number = make_part(folder / "b", part);
  CHECK(number >= 0);
  ::close(number);
  const WithoutInput scope;
  errno = EEXIST;
  CHECK(make_part(folder / "c", part) == 0);
  ::close(0);
  CHECK(folder.files() == 6);
}

TEST_CASE("a part that was removed as dead before it was locked is made again", "[phase1][io]") {
  const TemporaryFolder folder;
  const auto before = open_files();
  fs::path part;
  ::close(make_part(folder / "a", part));
  const std::string name = part.string(), start = name.substr(0, name.rfind('-') + 1);
  std::atomic<int> serial = std::stoi(name.substr(start.size()));
  std::atomic<bool> over = false;
  std::thread remover([&] {  // removes the next part, as another writer would that finds it dead
    while (!over) {
      const std::string next = start + std::to_string(serial + 1);
      const int file = ::open(next.c_str(), O_RDWR | O_CLOEXEC);
      if (file < 0) continue;
      if (::flock(file, LOCK_EX | LOCK_NB) == 0) ::unlink(next.c_str());
      ::close(file);
    }
  });
  int removed = 0;
  for (int i = 0; i < 3000; ++i) {
    const int file = make_part(folder / "a", part);
    struct stat status{};
    removed += file < 0 || ::fstat(file, &status) != 0 || status.st_nlink == 0 ? 1 : 0;
    serial = std::stoi(part.string().substr(start.size()));
    ::unlink(part.c_str());
    ::close(file);
  }
  over = true;
  remover.join();
  CHECK(removed == 0);
  CHECK(open_files() == before);
}
