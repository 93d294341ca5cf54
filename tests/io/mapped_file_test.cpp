// Files as memory: what is left open or mapped, and what cannot be.
#include "io/mapped_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

// While it exists, a resource of this process has this limit.
class Limit {
 public:
  Limit(decltype(RLIMIT_AS) resource, rlim_t most) : resource_(resource) {
    ::getrlimit(resource, &before_);
    const rlimit lower{most, before_.rlim_max};
    ::setrlimit(resource, &lower);
  }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
  ~Limit() { ::setrlimit(resource_, &before_); }

 private:
  decltype(RLIMIT_AS) resource_;
  rlimit before_{};
};

// The number that the next file gets.
rlim_t next_number() {
  const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(file);
  return static_cast<rlim_t>(file);
}

rlim_t bytes_mapped() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(::getpagesize());
}

std::filesystem::path written(const TemporaryFolder& folder, const std::string& content) {
  std::ofstream(folder / "a", std::ios::binary) << content;
  return folder / "a";
}

}  // namespace

TEST_CASE("a mapped file has the bytes of the file, if there are any", "[phase7][io]") {
  const TemporaryFolder folder;
  for (const std::string& content : {std::string("abc"), std::string("a"), std::string()}) {
    const MappedFile file(written(folder, content));
    REQUIRE(file.bytes().size() == content.size());
    for (std::size_t i = 0; i < content.size(); ++i) {
      CHECK(static_cast<char>(file.bytes()[i]) == content[i]);
    }
  }
}

TEST_CASE("a file is mapped without standard input, too", "[phase7][io]") {
  const TemporaryFolder folder;
  const auto path = written(folder, "abc");
  const int input = ::dup(0);
  ::close(0);  // the next file gets this number
  const std::size_t size = MappedFile(path).bytes().size();
  ::dup2(input, 0);
  ::close(input);
  CHECK(size == 3);
}

TEST_CASE("mapped files leave no file open, and none is needed", "[phase7][io]") {
  const TemporaryFolder folder;
  const auto path = written(folder, "abc");
  const rlim_t next = next_number();
  {
    const Limit one(RLIMIT_NOFILE, next + 1);
    const MappedFile first(path), second(path);
    CHECK(second.bytes().size() == 3);
  }
  std::string problem;
  {
    const Limit none(RLIMIT_NOFILE, next);
    problem =
        complaint([&] { MappedFile file(path); }, {"it cannot be read: Too many open files."});
  }
  CHECK(problem == "");
}

TEST_CASE("mapped files are unmapped, and too large ones refused", "[phase7][io]") {
  const TemporaryFolder folder;
  const auto path = written(folder, "abc");
  std::filesystem::resize_file(path, 1 << 30);  // with a hole: it takes no room on a disk
  std::string problem;
  {
    const Limit limit(RLIMIT_AS, bytes_mapped() + (1 << 29));
    problem = complaint([&] { MappedFile file(path); }, {"it cannot be read: Cannot allocate"});
  }
  CHECK(problem == "");
  std::filesystem::resize_file(path, 1 << 28);
  const Limit limit(RLIMIT_AS, bytes_mapped() + (1 << 29));
  for (int time = 0; time < 5; ++time) CHECK(MappedFile(path).bytes().size() == 1 << 28);
}
