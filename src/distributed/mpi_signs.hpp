// The tiny messages by which ranks ask for signs of life, and answer. For mpi_ranks.cpp, which is
// compiled only where MPI is asked for.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <deque>
#include <vector>

#include "distributed/process.hpp"
#include "distributed/signs_of_life.hpp"

namespace tapestry {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline MPI_Comm copy_of_world() {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  return copy;
}

inline int asked(int (*question)(MPI_Comm, int*)) {
  int answer = 0;
  question(MPI_COMM_WORLD, &answer);
  return answer;
}

class Signs {
 public:
  explicit Signs(int ranks)
      : comm_(copy_of_world()),
        rank_(asked(MPI_Comm_rank)),
        board_(board_of_job(ranks)),
        last_(static_cast<std::size_t>(ranks)) {}

  board::Place& place() { return here_; }
  board::Board& board() { return *board_; }

  void enter(Index step, const char* operation) {
    here_.set(step, operation);
    if (*board_) (*board_)[rank_].place = here_;
  }

  // Answers what came; `wait` is the one that this rank is in, or null.
  void look(signs::Wait* wait) {
    for (int came = 1; came != 0;) {
      MPI_Status from;
      if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &came, &from) != MPI_SUCCESS) return;
      if (came != 0) take(from, wait);
    }
    while (!answers_.empty()) {
      int gone = 0;
      MPI_Test(&answers_.front().request, &gone, MPI_STATUS_IGNORE);
      if (gone == 0) return;
      answers_.pop_front();
    }
  }

  void ask(int other) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Isend(nullptr, 0, MPI_BYTE, other, question, comm_, &request) == MPI_SUCCESS) {
      MPI_Request_free(&request);
    }
  }

  // Where a rank is; from the board of this machine if there is one, or else as it last said.
  board::Place place_of(int rank, const signs::Wait& wait) const {
    if (*board_) return (*board_)[rank].place;
    return rank == wait.heard().waits_for ? wait.heard().place_of_that
                                          : last_[static_cast<std::size_t>(rank)].place;
  }

 private:
  static constexpr int question = 1, answer = 2;

  struct Answer {
    signs::Sign sign;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  // It stays until the process ends, for whoever has to write on it late.
  static board::Board* board_of_job(int ranks) {
    auto* const board = new board::Board;
    const char* const path = std::getenv(process::board_variable);
    if (path != nullptr) board->open(path, ranks);
    return board;
  }

  void take(const MPI_Status& from, signs::Wait* wait) {
    const int other = from.MPI_SOURCE;
    if (from.MPI_TAG == question) {
      MPI_Recv(nullptr, 0, MPI_BYTE, other, question, comm_, MPI_STATUS_IGNORE);
      Answer& mine = answers_.emplace_back(Answer{sign_of_this(wait)});
      MPI_Isend(&mine.sign, sizeof mine.sign, MPI_BYTE, other, answer, comm_, &mine.request);
      return;
    }
    signs::Sign& sign = last_[static_cast<std::size_t>(other)];
    MPI_Recv(&sign, sizeof sign, MPI_BYTE, other, answer, comm_, MPI_STATUS_IGNORE);
    if (wait != nullptr && wait->other() == other) wait->hear(sign, now());
  }

  signs::Sign sign_of_this(const signs::Wait* wait) const {
    signs::Sign sign;
    sign.place = here_;
    if (wait == nullptr) return sign;
    sign.quiet = wait->quiet(now());
    sign.next = wait->other();
    const bool further = wait->heard().waits_for >= 0;
    sign.waits_for = further ? wait->heard().waits_for : wait->other();
    sign.place_of_that = place_of(sign.waits_for, *wait);
    return sign;
  }

  MPI_Comm comm_;
  int rank_;
  board::Place here_;
  board::Board* board_;
  std::vector<signs::Sign> last_;  // what each rank said last
  std::deque<Answer> answers_;     // under way
};

}  // namespace tapestry
