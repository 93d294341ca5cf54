#include "distributed/process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include "tapestry/distributed/mpi.hpp"
#include "tapestry/format.hpp"

namespace tapestry {
namespace process {
namespace {

// The number in the first of these environment variables that holds one, or 0.
int number_in(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* const text = std::getenv(name);
    int number{};
    if (text != nullptr && read_number(text, number) && number >= 0) return number;
  }
  return 0;
}

}  // namespace

int rank_started() { return number_in({"OMPI_COMM_WORLD_RANK", "PMI_RANK"}); }

void report(const std::string& line, const board::Board& board, int rank) {
  if (rank > 0) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  std::fflush(nullptr);
  if (board) {
    board::write_fault(board[rank], line);
  } else {
    std::fprintf(stderr, "%s\n", line.c_str());
  }
}

void print_where_the_starter_prints() {
  const char* const starter = std::getenv(starter_variable);
  if (starter == nullptr) return;
  std::fflush(nullptr);
  for (const int stream : {1, 2}) {
    const std::string path = std::string("/proc/") + starter + "/fd/" + std::to_string(stream);
    const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
    if (file < 0) continue;  // not a file or pipe, but a socket, say: mpirun passes the text on
    ::dup2(file, stream);
    ::close(file);
  }
}

}  // namespace process

int ranks_started() { return process::number_in({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}); }

int run_as_processes(int count, const std::function<void(Ranks&)>& work) {
  try {
    if (ranks_started() == 0 && count != 1) {
      const JobEnd end = start_ranks(count);
      if (!end.fault.empty()) std::fprintf(stderr, "%s\n", end.fault.c_str());
      return end.status;
    }
    work(ranks_of_this_program());
    return 0;
  } catch (const std::exception& error) {
    end_all_ranks(error.what());
  }
}

}  // namespace tapestry
