// The rows of the bench: each is the same work by the library and by its peers.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tapestry/real.hpp"

namespace tapestry::bench {

// One way of doing a row's work. `before` is called ahead of every call of `run` and not timed.
struct Contestant {
  std::string name;
  std::function<void()> run;
  std::function<void()> before = {};
  std::function<double()> seconds = {};  // instead of run: works, and tells how long that took;
                                         // infinite: it cannot any more
  bool is_judged = true;                 // else only shown
  int threads = 0;                       // how many it uses; 0: those of the race
};

struct Row {
  std::string group;  // rows of a group are together; --rows takes groups or names
  std::string name;
  double flops;  // floating point operations; a multiply-add counts as 2
  double bytes;  // moved at least: each array once, also when it is updated in place
  std::function<std::vector<Contestant>()> prepare;  // the first one is ours
  bool curve = false;   // measured for 1, 2, 4, ... threads, not only for 1 and all
  bool memory = false;  // what its tensors take is printed, too
};

// Of one call.
struct Timing {
  double seconds = 0;  // the best round
  double spread = 0;   // by which part of that the second best round took longer
};

struct Result {
  Row row;
  int threads = 1;
  std::vector<std::string> names;  // of the contestants: ours, the judged ones, the others
  std::vector<Timing> timings;     // of each
  std::size_t judged = 1;          // how many of them count, ours too
  double alone_seconds = 0;        // ours on one thread, in the same race
  double limit_seconds = 0;        // a lower bound on this machine
  bool limited_by_memory = false;  // else compute-bound
  double tensors_mib = 0;          // most in use at once by our side, its operands included

  double ours() const { return timings.front().seconds; }
  bool has_peer() const { return judged > 1; }
  std::size_t best_peer() const;                                          // the fastest of them
  double ratio() const { return timings[best_peer()].seconds / ours(); }  // above 1: we are faster
  double noise() const { return timings.front().spread + timings[best_peer()].spread; }
  bool is_even() const { return std::abs(std::log(ratio())) <= noise(); }  // no one is faster
  double times_one_thread() const { return alone_seconds / ours(); }       // above 1: faster
  double share() const { return limit_seconds / ours(); }                  // of the limit
  double gflops() const { return row.flops / ours() / 1e9; }
  double gb_per_second() const { return row.bytes / ours() / 1e9; }
};

// Each adds the rows of one family. The library is called through its public operations, except for
// the plain products.
void add_matmul_rows(std::vector<Row>& rows);   // also batched
void add_softmax_rows(std::vector<Row>& rows);  // and layer normalisation and GELU
void add_memory_rows(std::vector<Row>& rows);   // memory-bound work
void add_attention_rows(std::vector<Row>& rows);
void add_model_rows(std::vector<Row>& rows);   // layers and training steps
void add_models_rows(std::vector<Row>& rows);  // folders: opening, prompts and decoding

Contestant induction_step();  // of `tapestry train induction`

}  // namespace tapestry::bench
