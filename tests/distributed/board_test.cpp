// The memory that the ranks of one machine share, and what a rank is told by who started it.
#include "distributed/board.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include "catch.hpp"
#include "distributed/process.hpp"
#include "open_files.hpp"
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
  const auto open_before = open_files();
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
  CHECK(open_files() == open_before);
}

TEST_CASE("all that is on a board lies in its file, rank by rank", "[distributed][phase8]") {
  Board made;
  made.make(3);
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(made[rank].place.text() == "its start");
    made[rank].process = 100 + rank;
  }
  const std::string file = content(made.path());
  REQUIRE(file.size() == 3 * sizeof(board::Slot));
  for (int rank = 0; rank < 3; ++rank) {
    std::int32_t process = 0;  // the first in a slot
    std::memcpy(&process, file.data() + std::size_t(rank) * sizeof(board::Slot), sizeof process);
    CHECK(process == 100 + rank);
  }
}

TEST_CASE("the file of a board may have the number 0, and is closed", "[distributed][phase8]") {
  Board made;
  made.make(2);
  const std::string path = made.path();
  const auto closed_after = [](const std::function<void(Board&)>& fill) {
    const WithoutInput scope;
    int size = 0;
    {
      Board board;
      fill(board);
      size = board.size();
    }
    return size == 2 && ::fcntl(0, F_GETFD) < 0;
  };
  CHECK(closed_after([&](Board& board) { board.open(path.c_str(), 2); }));
  CHECK(closed_after([](Board& board) { board.make(2); }));
}

TEST_CASE("a shorter text on a board replaces a longer one", "[distributed][phase8]") {
  board::Place place;
  place.set(3, "sum of gradients");
  place.set(0, "loss");
  CHECK(place.text() == "step 0, loss");
}

TEST_CASE("a rank reports on its board, if there is one", "[distributed][phase8]") {
  Board board;
  board.make(3);
  process::report("rank 0 failed", board, 0);
  CHECK(board::first_fault(board) == "rank 0 failed");
  CHECK(board[0].failed != 0);
  CHECK(board[1].failed == 0);
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
    ::dup2(::open((folder / "said").c_str(), O_CREAT | O_WRONLY, 0600), 2);
    ::dup2(::open((folder / "printed").c_str(), O_CREAT | O_WRONLY, 0600), 1);
    std::printf("as far as this");
    end_all_ranks("the disk is full", 5);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 5);
  CHECK(content(folder / "said") == "the disk is full\n");
  CHECK(content(folder / "printed") == "as far as this");
}

TEST_CASE("a program of several ranks ends with what starting them complains of",
          "[distributed][phase8]") {
  const TemporaryFolder folder;
  Variable open_mpi("OMPI_COMM_WORLD_SIZE"), others("PMI_SIZE");
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open((folder / "said").c_str(), O_CREAT | O_WRONLY, 0600), 2);
    ::_exit(run_as_processes(2, [](Ranks&) { ::_exit(9); }));
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
  CHECK(content(folder / "said").starts_with("start_ranks: 2 ranks need MPI"));
}

TEST_CASE("a rank prints from now on where its starter does, unless that is a socket",
          "[distributed][phase8]") {
  for (const int socket : {1, 2}) {
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
    to_file("of the starter", 3 - socket);
    ::dup2(sockets[0], socket);
    const pid_t child = ::fork();
    if (child == 0) {
      if (socket == 2) ::close(0);  // a file may have the number 0
      to_file("out", 1);
      to_file("err", 2);
      std::printf("before, ");
      const int free = ::dup(1);
      ::close(free);
      process::print_where_the_starter_prints();
      std::printf("after");
      std::fprintf(stderr, "an error");
      std::fflush(nullptr);
      ::_exit(::dup(1) == free ? 0 : 1);  // no file more is open
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ::dup2(out, 1);
    ::dup2(err, 2);
    for (const int file : {out, err, sockets[0], sockets[1]}) ::close(file);
    CAPTURE(socket);
    CHECK(status == 0);
    CHECK(content(folder / "out") == (socket == 1 ? "before, after" : "before, "));
    CHECK(content(folder / "err") == (socket == 1 ? "" : "an error"));
    CHECK(content(folder / "of the starter") == (socket == 1 ? "an error" : "after"));
  }
}
