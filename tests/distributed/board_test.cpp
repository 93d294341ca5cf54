// The memory that the ranks of one machine share, and what a rank is told by who started it.
#include "distributed/board.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include "catch.hpp"
#include "distributed/process.hpp"
#include "ops/expect.hpp"
#include "tapestry/distributed/mpi.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;
using board::Board;

namespace {

int times_mapped() {
  std::ifstream file("/proc/self/maps");
  int found = 0;
  for (std::string line; std::getline(file, line);) {
    found += line.find("tapestry ranks") != std::string::npos ? 1 : 0;
  }
  return found;
}

// Gives an environment variable back its value.
class Variable {
 public:
  explicit Variable(const char* name) : name_(name) {
    if (const char* const text = std::getenv(name)) before_ = text;
    ::unsetenv(name);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

  void set(const char* text) { ::setenv(name_, text, 1); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("a board is memory for a while", "[distributed][phase8]") {
  const int before = times_mapped();
  {
    Board none;
    CHECK_FALSE(none);
    CHECK(none.size() == 0);
    Board made, opened;
    made.make(3);
    CHECK(made.size() == 3);
    CHECK(opened.open(made.path().c_str(), 3));
    CHECK(times_mapped() == before + 2);
    board::write_fault(opened[2], "it broke");
    CHECK(board::first_fault(made) == "it broke");
  }
  CHECK(times_mapped() == before);
}

TEST_CASE("a board that gets no memory says so", "[distributed][phase8]") {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{0, before.rlim_max};  // files that are open stay so
  ::setrlimit(RLIMIT_NOFILE, &none);
  Board board;
  const std::string problem = complaint([&] { board.make(2); }, {"no shared memory for 2 ranks"});
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK(problem == "");
}

TEST_CASE("mpirun tells a process its rank", "[distributed][phase8]") {
  Variable open_mpi("OMPI_COMM_WORLD_RANK"), others("PMI_RANK");
  CHECK(process::rank_started() == 0);
  others.set("2");
  CHECK(process::rank_started() == 2);
  open_mpi.set("1");
  CHECK(process::rank_started() == 1);
  open_mpi.set("0");
  CHECK(process::rank_started() == 0);  // not that of the other
  open_mpi.set("x");
  others.set("-1");
  CHECK(process::rank_started() == 0);
}

TEST_CASE("a program that ends all ranks says why, and has the status", "[distributed][phase8]") {
  const TemporaryFolder folder;
  std::fflush(nullptr);  // or the child would print once more what waits to be printed
  const pid_t child = ::fork();
  if (child == 0) {
    const int file = ::open((folder / "said").c_str(), O_CREAT | O_WRONLY, 0600);
    ::dup2(file, 2);
    end_all_ranks("the disk is full", 5);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 5);
  std::string said;
  std::getline(std::ifstream(folder / "said"), said, '\0');
  CHECK(said == "the disk is full\n");
}

TEST_CASE("a rank prints from now on where its starter does, unless that is a socket",
          "[distributed][phase8]") {
  const TemporaryFolder folder;
  const auto to_file = [&](const char* name, int stream) {
    const int file = ::open((folder / name).c_str(), O_CREAT | O_WRONLY, 0600);
    ::dup2(file, stream);
    ::close(file);
  };
  Variable starter(process::starter_variable);
  starter.set(std::to_string(::getpid()).c_str());
  std::fflush(nullptr);
  const int out = ::dup(1), err = ::dup(2);
  int sockets[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  to_file("out of the starter", 1);
  ::dup2(sockets[0], 2);
  const pid_t child = ::fork();
  if (child == 0) {
    to_file("out", 1);
    to_file("err", 2);
    std::printf("before, ");
    const int free = ::dup(0);
    ::close(free);
    process::print_where_the_starter_prints();
    std::printf("after");
    std::fprintf(stderr, "kept");
    std::fflush(nullptr);
    ::_exit(::dup(0) == free ? 0 : 1);  // no file more is open
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  for (const int file : {out, err, sockets[0], sockets[1]}) ::close(file);
  CHECK(status == 0);
  CHECK(content(folder / "out") == "before, ");
  CHECK(content(folder / "out of the starter") == "after");
  CHECK(content(folder / "err") == "kept");
}
