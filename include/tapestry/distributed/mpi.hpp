// Ranks that are processes, on this machine or on many, through MPI.
//
//   int main() {
//     return run_as_processes(4, [](Ranks& ranks) {  // this program, four times on this machine;
//       ...                                          // started by mpirun: one rank of its job
//     });
//   }
//
// MPI is optional: `make MPI=1` links it. Without it this header is the same, a program is one rank
// alone, and what needs more throws an Error that says so.
//
// Every wait has a deadline: a rank that waits asks the other for a sign of life, and where none
// has come for `patience` seconds it ends all ranks with one line that names rank, step and
// operation. A rank answers while it waits, between operations on tensors (ops.hpp, and each step
// of a backward pass), and in poll() and done(); what computes for longer than that without any of
// them is taken for dead. Ranks end with their parent, so that nothing is left when
// mpirun is killed.
#pragma once

#include <functional>
#include <string>

#include "tapestry/distributed/ranks.hpp"

namespace tapestry {

// Whether MPI is linked, and which: "Open MPI 4.1.4", or "".
[[nodiscard]] std::string mpi_version();

// How many ranks the mpirun that started this process has started: 0, if none did.
[[nodiscard]] int ranks_started();

// The rank that this process is: one of those that mpirun started, or else one alone. The first
// call sets up MPI, to be used by the calling thread only; the program's end waits for all ranks.
// TAPESTRY_PATIENCE sets the seconds without a sign of life after which a rank is given up (5).
// Throws Error if mpirun started more ranks than one and MPI is not linked.
Ranks& ranks_of_this_program();

// Ends this process and all other ranks, after a failure of this one: the line goes to standard
// error, behind rank, step and operation, and `status` is that of the job. Where all ranks fail in
// the same way, only rank 0 is heard. For a process that is no rank among others: prints and ends.
[[noreturn]] void end_all_ranks(const std::string& line, int status = 1);

// How a job ended: the exit status, and one line about the rank that failed, or "".
struct JobEnd {
  int status = 0;
  std::string fault = {};
};

// Runs this program again, with the arguments it was given, as `count` ranks on this machine, and
// returns when none of their processes is left. It sets what Open MPI (4.1 and 5.0) needs as root,
// in a container, and with more ranks than processors, and shares the threads among the ranks
// unless OMP_NUM_THREADS is set. Rank 0 prints to where this process prints. SIGINT and SIGTERM are
// passed on to all ranks; a second one ends them. Throws Error for a count not in 1 .. 1024,
// without MPI, and where there is no mpirun.
JobEnd start_ranks(int count);

// The whole main() of a program of ranks: starts `count` of them, or is one of those that were
// started. Returns the exit status, after one line on standard error if it is not 0.
int run_as_processes(int count, const std::function<void(Ranks&)>& work);

}  // namespace tapestry
