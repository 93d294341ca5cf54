// What `make test-mpi` runs as ranks: ring COUNT. Ring attention by COUNT processes, of which each
// compares the bits of its rows with those that one rank gets.
#include "distributed/ring.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tapestry/distributed/mpi.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

namespace {

void compare(Ranks& ranks, const std::vector<Tensor>& of, const RingOptions& options) {
  const RingResult ours = on_rank(ranks, of, options), whole = on_ranks(1, of, options);
  const RingLayout layout(of[0].size(-2), options.tile, ranks.size());
  const auto at = layout.positions(ranks.rank());
  const RingResult rows{rows_at(whole.y, at), rows_at(whole.d_q, at), rows_at(whole.d_k, at),
                        rows_at(whole.d_v, at)};
  const std::string wrong = bits_differ(ours, rows);
  if (!wrong.empty()) throw Error("wrong:" + wrong);
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  return run_as_processes(std::atoi(words[1]), [](Ranks& ranks) {
    compare(ranks, ring_operands({}, 4096, 64, 64), {.is_causal = true});
    compare(ranks, ring_operands({2, 3}, 333, 16, 24), {.lengths = {333, 100}, .tile = 32});
    if (ranks.rank() == 0) std::puts("the same bits");
  });
}
