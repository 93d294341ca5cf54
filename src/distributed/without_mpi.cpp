// What distributed/mpi.hpp is where MPI is not linked. mpi_ranks.cpp has the same functions; a
// program that is linked with it takes those.
#include <unistd.h>

#include <cstdlib>

#include "distributed/process.hpp"
#include "tapestry/distributed/mpi.hpp"
#include "tapestry/error.hpp"

namespace tapestry {

std::string mpi_version() { return ""; }

Ranks& ranks_of_this_program() {
  const int count = ranks_started();
  if (count <= 1) return alone();
  throw Error("mpirun has started " + std::to_string(count) +
              " ranks, but this program was built without MPI: build it by make MPI=1.");
}

void end_all_ranks(const std::string& line, int status) {
  process::report(line, board::Board(), process::rank_started());
  ::_exit(status);
}

}  // namespace tapestry
