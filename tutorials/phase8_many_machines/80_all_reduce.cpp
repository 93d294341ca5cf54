// Step 80. How do many ranks get the sum of what each of them has?
//
// New here: ranks, which share nothing and send each other messages; and the all-reduce, after
// which each rank has the sum, in three ways: all to one, a tree, a ring. Messages, bytes and time
// are counted while they run; the clock is a simulated one, so that the link can be any.
// Writes out/plots/phase8_all_reduce.gif; takes less than a second.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tapestry/distributed/all_reduce.hpp"
#include "tapestry/error.hpp"
#include "tapestry/plot/gif.hpp"

using namespace tapestry;

namespace {

using Numbers = std::vector<float>;

struct Link {
  double latency;    // seconds until the first byte of a message arrives
  double bandwidth;  // bytes per second
};

// A message that was seen: numbers [first, last) of the vector went from rank to rank.
struct Arrow {
  int step, from, to;
  std::size_t first, last;
};

// What a rank did.
struct Record {
  Numbers numbers;  // its own at first, the sum at last
  double clock = 0;
  int sent = 0, step = 0;
  double bytes = 0;
  std::vector<Arrow> arrows = {};
  std::vector<Numbers> after = {};  // numbers after each step, if they are few
};

// One rank, with a simulated clock: a link takes one message at a time in each direction.
struct Worker : Record {
  Ranks& ranks;
  Link link;
  double out_free = 0, in_free = 0;

  Worker(Ranks& r, Link l, std::size_t count)
      : Record{Numbers(count, std::ldexp(1.0F, r.rank()))}, ranks(r), link(l) {}

  double cost(std::size_t count) const {
    return link.latency + double(count * sizeof(float)) / link.bandwidth;
  }
  // Sends numbers [first, last) and says when they will have arrived.
  void send(int to, std::size_t first, std::size_t last) {
    out_free = std::max(clock, out_free) + cost(last - first);
    Message time = ranks.send(to, 1, bytes_of(out_free));
    Message data =
        ranks.send(to, 2, std::as_bytes(std::span(numbers).subspan(first, last - first)));
    ranks.wait(time), ranks.wait(data);
    arrows.push_back({step, ranks.rank(), to, first, last});
    ++sent, bytes += double((last - first) * sizeof(float));
  }
  Numbers receive(int from, std::size_t count) {
    double arrival = 0;
    Numbers got(count);
    Message time = ranks.receive(from, 1, bytes_of(arrival));
    Message data = ranks.receive(from, 2, std::as_writable_bytes(std::span(got)));
    ranks.wait(time), ranks.wait(data);
    in_free = std::max(arrival - cost(count), in_free) + cost(count);
    clock = std::max(clock, in_free);
    return got;
  }
  void add(const Numbers& other, std::size_t first) {
    for (std::size_t i = 0; i < other.size(); ++i) numbers[first + i] += other[i];
  }
  void put(const Numbers& other, std::size_t first) {
    std::copy(other.begin(), other.end(), numbers.begin() + std::ptrdiff_t(first));
  }
  void end_step() {
    if (numbers.size() <= 4) after.push_back(numbers);
    ++step;
  }
};

// All send to rank 0, which adds, and sends the sum to all.
void all_to_one(Worker& w) {
  const std::size_t n = w.numbers.size();
  const int size = w.ranks.size();
  for (const bool back : {false, true}) {
    for (int rank = 1; rank < size; ++rank) {
      if (w.ranks.rank() == (back ? 0 : rank)) w.send(back ? rank : 0, 0, n);
      if (w.ranks.rank() == (back ? rank : 0)) {
        const Numbers got = w.receive(back ? 0 : rank, n);
        if (back) w.put(got, 0);
        if (!back) w.add(got, 0);
      }
      w.end_step();
    }
  }
}

// Pairs add, then pairs of pairs; the sum goes down the same way.
void tree(Worker& w) {
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
void ring(Worker& w) {
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
  void (*reduce)(Worker&);
};
constexpr Way ways[] = {{"all to one", all_to_one}, {"tree", tree}, {"ring", ring}};

// Rank r has numbers 2^r, so that a sum tells which ranks are in it.
std::vector<Record> run(const Way& way, int size, std::size_t count, Link link) {
  std::vector<Record> records(static_cast<std::size_t>(size));
  run_as_threads(size, [&](Ranks& ranks) {
    Worker worker(ranks, link, count);
    way.reduce(worker);
    records[static_cast<std::size_t>(ranks.rank())] = worker;
  });
  for (const Record& r : records) {
    if (r.numbers != Numbers(count, std::ldexp(1.0F, size) - 1)) throw Error("a sum is wrong");
  }
  return records;
}

void count_messages() {
  const std::size_t n = 24'000;
  std::printf("1. %zu numbers (%.0f KB): most messages and KB that one rank sends; steps\n", n,
              4e-3 * double(n));
  std::printf("ranks                2              4              8             16\n");
  for (const Way& way : ways) {
    std::printf("%-12s", way.name);
    for (const int size : {2, 4, 8, 16}) {
      int messages = 0;
      double bytes = 0;
      const std::vector<Record> workers = run(way, size, n, {1e-6, 1e9});
      for (const Record& w : workers) {
        messages = std::max(messages, w.sent), bytes = std::max(bytes, w.bytes);
      }
      std::printf(" %3d %5.0f %3d ", messages, bytes * 1e-3, workers[0].step);
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

double finished(const std::vector<Record>& workers) {
  double last = 0;
  for (const Record& w : workers) last = std::max(last, w.clock);
  return last;
}

// What the lesson derives: steps x latency + bytes / bandwidth.
double formula(int which, double size, double count, Link link) {
  const double all = 4 * count / link.bandwidth, levels = std::ceil(std::log2(size));
  if (which == 0) return 2 * (size - 1) * (link.latency + all);
  if (which == 1) return 2 * levels * (link.latency + all);
  return 2 * (size - 1) * (link.latency + all / size);
}

void compare_with_formula() {
  const Link link{20e-6, 1e9};
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
      double n = 1;
      while (formula(2, size, n, at) >= formula(1, size, n, at)) n *= 1.001;
      std::printf(" %9.0f", n);
    }
    std::printf("\n");
  }
}

constexpr double cell = 66, gap = 10;

// Four ranks below each other, four chunks side by side; in a cell a stripe for each rank whose
// numbers are in it.
void draw_state(plot::Canvas& canvas, plot::Point corner, const std::vector<Record>& workers,
                int step) {
  for (std::size_t r = 0; r < workers.size(); ++r) {
    for (std::size_t c = 0; c < 4; ++c) {
      const double value =
          step == 0 ? std::ldexp(1.0, int(r)) : double(workers[r].after[std::size_t(step) - 1][c]);
      const plot::Rect box{corner.x + double(c) * (cell + gap), corner.y + double(r) * (cell + gap),
                           cell, cell};
      for (std::size_t k = 0; k < 4; ++k) {
        const bool in = (int(value) >> k) & 1;
        if (in)
          canvas.fill_rect({box.x + double(k) * cell / 4, box.y, cell / 4, cell},
                           plot::series_colour(k));
      }
      canvas.stroke_rect(box, {plot::theme::frame});
    }
    canvas.text({corner.x - 12, corner.y + double(r) * (cell + gap) + cell / 2},
                "rank " + std::to_string(r),
                {.align = plot::Align::right, .vertical = plot::VerticalAlign::middle});
  }
}

void draw_arrows(plot::Canvas& canvas, plot::Point corner, const std::vector<Record>& workers,
                 int step) {
  for (const Record& w : workers) {
    for (const Arrow& a : w.arrows) {
      for (std::size_t c = a.first; c < a.last && a.step + 1 == step; ++c) {
        const auto middle = [&](int r) {
          return plot::Point{corner.x + double(c) * (cell + gap) + cell / 2,
                             corner.y + r * (cell + gap) + cell / 2};
        };
        canvas.arrow(middle(a.from), middle(a.to), {plot::white, 7}, 16);
        canvas.arrow(middle(a.from), middle(a.to), {plot::theme::ink, 3}, 13);
      }
    }
  }
}

void film() {
  std::vector<plot::Canvas> frames;
  const Link link{1, 4};  // one second, and one for each number: 4 bytes
  const std::vector<Record> runs[] = {run(ways[0], 4, 4, link), run(ways[1], 4, 4, link),
                                      run(ways[2], 4, 4, link)};
  for (int step = 0; step <= 6; ++step) {
    plot::Canvas canvas(1200, 430, 1);
    for (std::size_t which = 0; which < 3; ++which) {
      const std::vector<Record>& workers = runs[which];
      const int now = std::min(step, workers[0].step);
      const plot::Point corner{80 + 395 * double(which), 96};
      canvas.text({corner.x, 36}, ways[which].name, {.size = 18, .bold = true});
      const bool done = step >= workers[0].step;
      canvas.text({corner.x, 62},
                  "step " + std::to_string(now) + " of " + std::to_string(workers[0].step) +
                      (done ? ": each rank has the sum" : ""),
                  {.colour = plot::theme::faded});
      draw_state(canvas, corner, workers, now);
      if (step <= workers[0].step) draw_arrows(canvas, corner, workers, step);
    }
    canvas.text({80, 418},
                "A cell is a quarter of the vector; its stripes are the ranks whose numbers are in "
                "it. Arrows: what was just sent.",
                {.colour = plot::theme::faded});
    frames.insert(frames.end(), step == 6 ? 3 : 1, canvas);
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
