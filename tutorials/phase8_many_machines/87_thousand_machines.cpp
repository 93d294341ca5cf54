// Step 87. How long will a step take on 1000 machines?
//
// New here: a plan. The cost model of step 84 is asked about GPT-2's smallest model on 1 to 1024
// machines, with two networks that are given by their latency and bandwidth; and what else changes
// at a thousand: the batch, the slowest rank, failures, the memory of each.
// Writes out/plots/phase8_efficiency.png; takes less than a second.
#include <cmath>
#include <cstdio>

#include "course/network_link.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/random.hpp"

using namespace tapestry;

namespace {

// A cluster to plan: GPT-2's smallest model, 124 million numbers; a micro-batch of 8 texts of 1024
// tokens takes 6 operations for each number and token, at 10^13 in a second. The optimizer reads or
// writes 64 bytes for each number, at 10^11 in a second.
constexpr double parameters = 124e6, tokens = 8 * 1024, micro_batches = 1024;
constexpr double micro_batch = 6 * parameters * tokens / 1e13;  // seconds
constexpr double update = 4 * parameters * 16 / 1e11;           // seconds, on each rank
constexpr double bytes = 4 * parameters;                        // of all gradients

// The model of step 84.
double step_seconds(NetworkLink link, double ranks) {
  return std::ceil(micro_batches / ranks) * micro_batch +
         2 * (ranks - 1) * link.seconds(bytes / ranks) + update;
}

// The time on one rank, divided by the number of ranks and by the time on all of them.
double efficiency(NetworkLink link, double ranks) {
  return step_seconds(link, 1) / ranks / step_seconds(link, ranks);
}

const NetworkLink fast{1e-5, 1e10}, slow{5e-5, 1.25e8};
const struct {
  const char* name;
  NetworkLink link;
} networks[] = {{"10 us, 10 GB/s", fast}, {"50 us, 0.125 GB/s", slow}};

void plan() {
  std::printf(
      "1. GPT-2's smallest, 1024 micro-batches of 8 x 1024 tokens in a step: seconds, "
      "efficiency\n");
  std::printf("ranks                    1        4       16       64      256     1024\n");
  for (const auto& [name, link] : networks) {
    std::printf("%-18s", name);
    for (double r = 1; r <= 1024; r *= 4) std::printf(" %8.2f", step_seconds(link, r));
    std::printf("\n%-18s", "");
    for (double r = 1; r <= 1024; r *= 4) {
      std::printf(" %6.0f %%", 100 * efficiency(link, r));
    }
    std::printf("\n");
  }
}

// The mean of the largest of so many normal numbers.
double largest_of(int ranks) {
  Random random(4);
  double sum = 0;
  for (int i = 0; i < 200; ++i) {
    const Tensor draws = random.normal({ranks});  // (ranks)
    sum += double{max(draws).item()} / 200;
  }
  return sum;
}

void at_a_thousand() {
  std::printf(
      "\n2. What changes                                             2 ranks     1024 ranks\n");
  const auto row = [](const char* what, int digits, double a, double b) {
    std::printf("%-56s%10.*f    %10.*f\n", what, digits, a, digits, b);
  };
  const auto latency = [](double r) { return 2 * (r - 1) * fast.latency; };
  row("tokens of a step, at least (a micro-batch for each), k", 0, 2 * tokens / 1e3,
      1024 * tokens / 1e3);
  row("ring: waiting for latency, ms", 2, 1e3 * latency(2), 1e3 * latency(1024));
  row("ring: one message, KB", 0, bytes / 2 / 1e3, bytes / 1024 / 1e3);
  row("slowest rank, if times spread by 5 %: slower by, %", 1, 5 * largest_of(2),
      5 * largest_of(1024));
  row("days between failures, if one machine fails in 3 years", 1, 3 * 365. / 2, 3 * 365. / 1024);
  row("Adam's state, MB of each rank, if it is divided (ZeRO 1)", 1, 8 * parameters / 2 / 1e6,
      8 * parameters / 1024 / 1e6);
}

void draw() {
  plot::LineChart chart{.title = "GPT-2's smallest on a cluster",
                        .subtitle = "Predicted. 1024 micro-batches in a step",
                        .x_axis = {.name = "ranks", .log = true},
                        .y_axis = {.name = "efficiency, %", .low = 0, .high = 100}};
  for (const auto& [name, link] : networks) {
    plot::Series line{.name = name};
    for (double r = 1; r <= 1024; r *= 2) {
      line.x.push_back(r), line.y.push_back(100 * efficiency(link, r));
    }
    chart.series.push_back(line);
  }
  plot::Canvas canvas(546, 440);
  plot::draw(canvas, canvas.area().inset(8), chart);
  plot::write_png(canvas, "out/plots/phase8_efficiency.png");
  std::printf("\nwrote out/plots/phase8_efficiency.png\n");
}

}  // namespace

int main() try {
  std::printf("Step 87: a plan for 1000 machines (takes less than a second)\n\n");
  plan();
  at_a_thousand();
  draw();
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
