// 80a. All-reduce on a ring
//
// Each rank calls the function with numbers of its own, and gets the sums over all ranks. A rank
// only sends to ranks.next() and receives from ranks.previous().
//
// The numbers are cut into R = ranks.size() chunks: chunk c is [n c / R, n (c + 1) / R). There are
// 2 (R - 1) steps. In step s rank r sends the chunk (r - s) mod R and receives the chunk before it,
// (r - s - 1) mod R. In the first R - 1 steps what comes is added to the rank's own numbers; in the
// others it replaces them, for it is the complete sum.
//
//   numbers   n of this rank; n need not be a multiple of R
//   ->        n: the sums
//
// To send numbers [a, b), and to receive as many:
//   Message sent = ranks.send(to, 1, std::as_bytes(std::span(numbers).subspan(a, b - a)));
//   Message got = ranks.receive(from, 1, std::as_writable_bytes(std::span(room)));
//   ranks.wait(sent), ranks.wait(got);
// Lesson: tutorials/phase8_many_machines/README.md, "80 The sum of what all have"
#include <span>
#include <vector>

#include "phase8.hpp"

namespace learn {

std::vector<real> ring_all_reduce(Ranks& ranks, std::vector<real> numbers) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
