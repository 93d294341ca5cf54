// Step 84. Can the time of a step be predicted from that of its parts?
//
// New here: a cost model of three measured numbers: the latency and the bandwidth of the link, and
// the time of a micro-batch. It predicts the time of a step; the prediction is compared with what
// two ranks take, here and over slower links (a wrapper delays messages). With the argument
// "processes" they are two processes (make phase8).
// Writes out/plots/phase8_scaling.png; takes about ten seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "course/delayed_ranks.hpp"
#include "course/first_rank.hpp"
#include "course/ring.hpp"
#include "course/timing.hpp"
#include "course/training_rank.hpp"
#include "tapestry/distributed/mpi.hpp"
#include "tapestry/error.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

constexpr Index micro_batches = TrainingRank::micro_batches;

// What is to be predicted: the work of step 82, with the ring of step 80.
void make_step(TrainingRank& worker, Index step) {
  const Index share = micro_batches / worker.ranks.size();
  for (Index i = 0; i < share; ++i) worker.compute(step, worker.ranks.rank() * share + i);
  worker.all_reduce();
  worker.update();
}

// The three numbers, and one more: the optimizer's step, which every rank makes.
struct Costs {
  NetworkLink link;
  double micro_batch = 0, update = 0, bytes = 0;

  // A step on so many ranks that share `count` micro-batches.
  double step(double ranks, double count) const {
    return std::ceil(count / ranks) * micro_batch + 2 * (ranks - 1) * link.seconds(bytes / ranks) +
           update;
  }
};

// Half the time of a message there and back, the least of some: what else the machine does can only
// make it longer.
double one_way(Ranks& ranks, std::size_t size) {
  std::vector<std::byte> bytes(size);
  const auto there_and_back = [&] {
    for (const bool sends : {ranks.rank() == 0, ranks.rank() == 1}) {
      Message m = sends ? ranks.send(1 - ranks.rank(), 3, bytes)
                        : ranks.receive(1 - ranks.rank(), 3, bytes);
      ranks.wait(m);
    }
  };
  return best_seconds(there_and_back, 12, 0) / 2;
}

NetworkLink measure_link(Ranks& ranks) {
  const double small = one_way(ranks, 8), large = one_way(ranks, 4'000'000);
  return {small, (4e6 - 8) / (large - small)};
}

struct Measured {
  Costs costs;
  double step = 0, library = 0;  // seconds
};

// Returns when both of two ranks have come here: the larger of the numbers that they bring.
double meet(Ranks& ranks, double mine = 0) {
  double other = 0;
  exchange(ranks, bytes_of(std::as_const(mine)), bytes_of(other));
  return std::max(mine, other);
}

// What costs is measured in turn with what is to be predicted, so that both see the machine alike;
// all but the link as means.
Measured measure_steps(Ranks& fast, NetworkLink slower) {
  constexpr Index rounds = 7;
  Delayed ranks(fast, slower);
  TrainingRank worker(ranks);
  make_step(worker, 0);  // memory is taken
  const auto step_of_library = [&] {
    const auto loss = [&](Index step, Index i) { return worker.loss(step, i); };
    train_in_parts(worker.adam, loss, {.micro_batches = micro_batches},
                   {.steps = worker.adam.steps() + 1, .what = ""}, ranks);
  };
  Measured m;
  m.costs.link = measure_link(ranks);
  m.costs.bytes = double(worker.gradients.size() * sizeof(real));
  for (Index round = 1; round <= rounds; ++round) {
    meet(ranks);  // from here on both ranks compute at once, as in a step
    const double four = seconds_of([&] {
      for (Index i = 0; i < 4; ++i) worker.compute(round, i);
    });
    m.costs.micro_batch += meet(fast, four) / 4 / rounds;  // in a step both wait for the slower
    m.costs.update += seconds_of([&] { worker.update(); }) / rounds;
    meet(ranks);
    m.step += seconds_of([&] { make_step(worker, round); }) / rounds;
    meet(ranks);
    m.library += seconds_of(step_of_library) / rounds;
  }
  return m;
}

struct NamedLink {
  const char* name;
  NetworkLink link;
};
const NamedLink links[] = {{"as it is", {}},
                           {"1 ms, 200 MB/s", {1e-3, 2e8}},
                           {"5 ms, 50 MB/s", {5e-3, 5e7}},
                           {"10 ms, 20 MB/s", {1e-2, 2e7}}};

// Of two ranks, the first prints.
std::vector<Measured> compare_costs(Ranks& ranks) {
  use_threads(1);
  const bool prints = ranks.rank() == 0;
  if (prints) {
    std::printf("A GPT, 8 micro-batches, two ranks here. Measured: latency, bandwidth, a\n");
    std::printf("micro-batch; predicted from these: a step; then a step, and the library's\n");
    std::printf(
        "link added            ms      MB/s        ms   predicted  measured   ratio   library\n");
  }
  std::vector<Measured> all;
  for (const auto& [name, link] : links) {
    const Measured m = measure_steps(ranks, link);
    const double predicted = m.costs.step(2, micro_batches);
    if (prints) {
      std::printf("%-15s %8.3f %9.0f %9.2f %11.1f %9.1f %7.2f %9.1f\n", name,
                  1e3 * m.costs.link.latency, 1e-6 * m.costs.link.bandwidth,
                  1e3 * m.costs.micro_batch, 1e3 * predicted, 1e3 * m.step, predicted / m.step,
                  1e3 * m.library);
    }
    all.push_back(m);
  }
  return all;
}

void draw(const std::vector<Measured>& all) {
  plot::LineChart here{
      .title = "A small GPT on this machine",
      .subtitle = "Lines: predicted, 8 micro-batches or one for each rank. Dots: measured on 2",
      .x_axis = {.name = "ranks", .log = true},
      .y_axis = {.name = "ms for a step", .log = true}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    plot::Series line{.name = links[i].name, .colour = plot::series_colour(i)};
    for (double r = 1; r <= 1024; r *= 2) {
      line.x.push_back(r);
      line.y.push_back(1e3 * all[i].costs.step(r, std::max(r, double(micro_batches))));
    }
    here.series.push_back(line);
    here.series.push_back(
        {"", {2}, {1e3 * all[i].step}, false, true, false, plot::series_colour(i)});
  }
  plot::Canvas canvas(546, 440);
  plot::draw(canvas, canvas.area().inset(8), here);
  plot::write_png(canvas, "out/plots/phase8_scaling.png");
}

}  // namespace

int main(int count, char** arguments) try {
  if (count > 1 && std::string(arguments[1]) == "processes") {
    return run_as_processes(2, [](Ranks& ranks) { compare_costs(ranks); });
  }
  std::printf("Step 84: a cost model (takes about ten seconds)\n\n");
  draw(of_first_rank(2, compare_costs));
  std::printf("\nwrote out/plots/phase8_scaling.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
