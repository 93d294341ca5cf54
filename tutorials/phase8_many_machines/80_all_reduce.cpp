// Step 80. How do many ranks get the sum of what each of them has?
//
// New here: ranks, which share nothing and send each other messages; and the all-reduce, after
// which each rank has the sum, in three ways: all to one, a tree, a ring. Messages, bytes and time
// are counted while they run; the clock is a simulated one, so that the link can be any. SumRank
// (course/sum_rank.hpp) is a rank with its vector, its counts and its clock.
// Writes out/plots/phase8_all_reduce.gif; takes less than a second.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "course/rank_pictures.hpp"
#include "course/sum_rank.hpp"
#include "tapestry/distributed/all_reduce.hpp"
#include "tapestry/error.hpp"
#include "tapestry/plot/gif.hpp"

using namespace tapestry;

namespace {

using Numbers = std::vector<float>;

// All send to rank 0, which adds, and sends the sum to all.
void all_to_one(SumRank& w) {
  const std::size_t n = w.numbers.size();
  const int rank = w.ranks.rank(), size = w.ranks.size();
  for (int from = 1; from < size; ++from) {
    if (rank == from) w.send(0, 0, n);
    if (rank == 0) w.add(w.receive(from, n), 0);
    w.end_step();
  }
  for (int to = 1; to < size; ++to) {
    if (rank == 0) w.send(to, 0, n);
    if (rank == to) w.put(w.receive(0, n), 0);
    w.end_step();
  }
}

// Pairs add, then pairs of pairs; the sum goes down the same way.
void tree(SumRank& w) {
  const std::size_t n = w.numbers.size();
  const int rank = w.ranks.rank(), size = w.ranks.size();
  int top = 1;
  while (top < size) top *= 2;
  for (int d = 1; d < size; d *= 2) {  // up
    if (rank % (2 * d) == d) w.send(rank - d, 0, n);
    if (rank % (2 * d) == 0 && rank + d < size) w.add(w.receive(rank + d, n), 0);
    w.end_step();
  }
  for (int d = top / 2; d >= 1; d /= 2) {  // down
    if (rank % (2 * d) == 0 && rank + d < size) w.send(rank + d, 0, n);
    if (rank % (2 * d) == d) w.put(w.receive(rank - d, n), 0);
    w.end_step();
  }
}

// The vector is cut into as many chunks as there are ranks. In the first half of the steps each
// chunk collects its sum, in the second the sums go round to all.
void ring(SumRank& w) {
  const int size = w.ranks.size(), rank = w.ranks.rank();
  const auto begin = [&](int c) { return w.numbers.size() * std::size_t(c) / std::size_t(size); };
  for (int s = 0; s < 2 * (size - 1); ++s) {
    const int out = (rank - s + 2 * size) % size, in = (out + size - 1) % size;
    w.send(w.ranks.next(), begin(out), begin(out + 1));
    const Numbers got = w.receive(w.ranks.previous(), begin(in + 1) - begin(in));
    if (s < size - 1) {
      w.add(got, begin(in));
    } else {
      w.put(got, begin(in));
    }
    w.end_step();
  }
}

struct Way {
  const char* name;
  void (*reduce)(SumRank&);
};
constexpr Way ways[] = {{"all to one", all_to_one}, {"tree", tree}, {"ring", ring}};

// Rank r begins with numbers 2^r, so that a sum tells which ranks are in it.
std::vector<SumRecord> run(const Way& way, int size, std::size_t count, NetworkLink link) {
  std::vector<SumRecord> records(static_cast<std::size_t>(size));
  run_as_threads(size, [&](Ranks& ranks) {
    SumRank worker(ranks, link, count);
    way.reduce(worker);
    records[static_cast<std::size_t>(ranks.rank())] = worker;
  });
  for (const SumRecord& r : records) {
    if (r.numbers != Numbers(count, std::ldexp(1.0F, size) - 1)) throw Error("a sum is wrong");
  }
  return records;
}

void count_messages() {
  std::printf("1. 24000 numbers (96 KB): most messages and KB that one rank sends; steps\n");
  std::printf("ranks                2              4              8             16\n");
  for (const Way& way : ways) {
    std::printf("%-12s", way.name);
    for (const int size : {2, 4, 8, 16}) {
      int messages = 0;
      double bytes = 0;
      const std::vector<SumRecord> workers = run(way, size, 24'000, {1e-6, 1e9});
      for (const SumRecord& w : workers) {
        messages = std::max(messages, w.messages), bytes = std::max(bytes, w.bytes);
      }
      std::printf(" %3d %5.0f %3zu ", messages, bytes * 1e-3, workers[0].steps.size() - 1);
    }
    std::printf("\n");
  }
}

void compare_with_library() {
  std::atomic<bool> same = true;
  for (const int size : {2, 4, 8, 16}) {
    run_as_threads(size, [&](Ranks& ranks) {
      std::vector<real> numbers(100, std::ldexp(real(1), ranks.rank()));
      all_reduce(ranks, numbers);
      if (numbers != std::vector<real>(100, std::ldexp(real(1), size) - 1)) same = false;
    });
  }
  std::printf("all_reduce() of the library: %s\n", same ? "the same sums" : "OTHER SUMS");
}

double finished(const std::vector<SumRecord>& workers) {
  double last = 0;
  for (const SumRecord& w : workers) last = std::max(last, w.clock);
  return last;
}

// What the lesson derives: steps x latency + bytes / bandwidth.
double formula(int which, double size, double count, NetworkLink link) {
  if (which == 0) return 2 * (size - 1) * link.seconds(4 * count);
  if (which == 1) return 2 * std::ceil(std::log2(size)) * link.seconds(4 * count);
  return 2 * (size - 1) * link.seconds(4 * count / size);
}

// The count at which tree and ring take equally long: what both formulas give, solved for it. The
// ranks are a power of two.
double as_fast(double size, NetworkLink link) {
  const double messages = (size - 1) - std::log2(size);  // more of them on the ring
  const double parts = std::log2(size) - (size - 1) / size;
  return link.latency * link.bandwidth * messages / parts / 4;
}

void compare_with_formula() {
  const NetworkLink link{20e-6, 1e9};
  std::printf(
      "\n2. Time in ms by the simulated clock, and by the formula: 8 ranks, 20 us, 1 GB/s\n");
  std::printf("numbers    all to one                tree                ring\n");
  for (const std::size_t n : {8, 8'000, 400'000}) {
    std::printf("%7zu", n);
    for (int which = 0; which < 3; ++which) {
      std::printf("  %8.3f %8.3f ", 1e3 * finished(run(ways[which], 8, n, link)),
                  1e3 * formula(which, 8, double(n), link));
    }
    std::printf("\n");
  }
  std::printf("\n3. From how many numbers on the ring is faster than the tree, by the formula\n");
  std::printf("ranks                       4        16        64      1024\n");
  for (const auto& [name, at] :
       {std::pair{"20 us, 1 GB/s", link}, {"2 us, 20 GB/s", {2e-6, 2e10}}}) {
    std::printf("%-18s", name);
    for (const double size : {4., 16., 64., 1024.}) {
      std::printf(" %9.0f", as_fast(size, at));
    }
    std::printf("\n");
  }
}

void film() {
  std::vector<plot::Canvas> frames;
  std::vector<std::vector<SumRecord>> runs;
  for (const Way& way : ways) runs.push_back(run(way, 4, 4, {}));
  for (std::size_t step = 0; step <= 6; ++step) {
    std::vector<SumState> states;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      states.push_back(state_after(ways[i].name, runs[i], step));
    }
    frames.insert(frames.end(), step == 6 ? 3 : 1, sums_over_ranks(states));
  }
  plot::write_gif(frames, "out/plots/phase8_all_reduce.gif", 1.5);
  std::printf("\nwrote out/plots/phase8_all_reduce.gif\n");
}

}  // namespace

int main() try {
  std::printf("Step 80: the sum of what all ranks have (takes less than a second)\n\n");
  count_messages();
  compare_with_library();
  compare_with_formula();
  film();
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
