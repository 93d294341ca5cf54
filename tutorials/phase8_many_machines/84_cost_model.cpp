// Step 84. How long will a step take on 1000 machines?
//
// New here: a cost model of three measured numbers: the latency and the bandwidth of the link, and
// the time of a micro-batch. It predicts the time of a step; the prediction is compared with what
// two ranks take, here and over slower links (a wrapper delays messages). Then the model is asked
// about 1 to 1024 machines. With the argument "processes" they are two processes (make phase8).
// Writes out/plots/phase8_scaling.png; takes about ten seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "course/delayed_ranks.hpp"
#include "course/timing.hpp"
#include "tapestry/distributed/mpi.hpp"
#include "tapestry/distributed/training.hpp"
#include "tapestry/error.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

constexpr Index micro_batches = 8;

// A GPT, and one step of it: what a rank of step 82 does, with the ring of step 80.
struct Worker {
  Ranks& ranks;
  Transformer model;
  Adam adam;
  std::vector<real> row;  // all gradients

  static Transformer new_model() {
    Random random(1);
    return Transformer({.vocab_size = 256, .max_length = 64, .d_model = 128, .num_heads = 4},
                       random);
  }
  explicit Worker(Ranks& all) : ranks(all), model(new_model()), adam(model.parameters()) {
    std::size_t count = 0;
    for (const Parameter& p : model.parameters()) count += std::size_t(p.value.count());
    row.resize(count);
  }

  MicroBatch loss(Index step, Index micro_batch) const {
    Random random = random_of(3, step, micro_batch, micro_batches);
    std::vector<std::int32_t> ids(256);
    for (std::int32_t& id : ids) id = std::int32_t(random.randint(256));
    const Indices texts({4, 64}, ids);
    return sum_of_losses(model(texts), texts);
  }
  void compute(Index step, Index micro_batch) {
    Tape tape(model.parameters());
    const Gradients gradients = tape.backward(loss(step, micro_batch).loss_sum);
    std::size_t at = 0;
    for (std::size_t p = 0; p < gradients.size(); ++p) {
      for (const real g : gradients.at(p).values()) row[at++] += g;
    }
  }
  void update() {
    std::vector<Tensor> gradients;
    auto at = row.begin();
    for (const Parameter& p : model.parameters()) {
      const auto end = at + std::ptrdiff_t(p.value.count());
      gradients.emplace_back(p.value.shape(), std::vector<real>(at, end));  // as the parameter
      at = end;
    }
    adam.step(gradients);
    std::fill(row.begin(), row.end(), real(0));
  }
  void all_reduce() {
    const int size = ranks.size();
    const auto begin = [&](int c) { return row.size() * std::size_t(c) / std::size_t(size); };
    std::vector<real> in(row.size() / std::size_t(size) + 1);
    for (int s = 0; s < 2 * (size - 1); ++s) {
      const int out_chunk = (ranks.rank() - s + 2 * size) % size,
                chunk = (out_chunk + size - 1) % size;
      const auto out =
          std::span(row).subspan(begin(out_chunk), begin(out_chunk + 1) - begin(out_chunk));
      const auto got = std::span(in).first(begin(chunk + 1) - begin(chunk));
      Message sent = ranks.send(ranks.next(), 1, std::as_bytes(out));
      Message received = ranks.receive(ranks.previous(), 1, std::as_writable_bytes(got));
      ranks.wait(sent), ranks.wait(received);
      for (std::size_t i = 0; i < got.size(); ++i) {
        real& x = row[begin(chunk) + i];
        x = s < size - 1 ? x + got[i] : got[i];
      }
    }
  }
  void step(Index number) {
    const Index share = micro_batches / ranks.size();
    for (Index i = 0; i < share; ++i) compute(number, ranks.rank() * share + i);
    all_reduce();
    update();
  }
  // Two ranks: returns when both have come here.
  void meet() {
    std::byte in{};
    const std::byte out{};
    Message sent = ranks.send(ranks.next(), 2, bytes_of(out));
    Message got = ranks.receive(ranks.previous(), 2, bytes_of(in));
    ranks.wait(sent), ranks.wait(got);
  }
};

// The three numbers, and one more: the optimizer's step, which every rank makes.
struct Costs {
  Link link;
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
  double least = INFINITY;
  for (int i = 0; i < 12; ++i) {
    const double start = now();
    for (const bool sends : {ranks.rank() == 0, ranks.rank() == 1}) {
      Message m = sends ? ranks.send(1 - ranks.rank(), 3, bytes)
                        : ranks.receive(1 - ranks.rank(), 3, bytes);
      ranks.wait(m);
    }
    least = std::min(least, (now() - start) / 2);
  }
  return least;
}

Link measure_link(Ranks& ranks) {
  const double small = one_way(ranks, 8), large = one_way(ranks, 4'000'000);
  return {small, (4e6 - 8) / (large - small)};
}

struct Measured {
  Costs costs;
  double step = 0, library = 0;  // seconds
};

// In a step both wait for the slower of the two.
double of_the_slower(Ranks& ranks, double mine) {
  double other = 0;
  Message sent = ranks.send(ranks.next(), 4, bytes_of(std::as_const(mine)));
  Message got = ranks.receive(ranks.previous(), 4, bytes_of(other));
  ranks.wait(sent), ranks.wait(got);
  return std::max(mine, other);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

// What costs is measured in turn with what is to be predicted, so that both see the machine alike.
Measured measure_steps(Ranks& fast, Link slower) {
  Delayed ranks(fast, slower);
  Worker worker(ranks);
  worker.step(0);  // memory is taken
  const Link link = measure_link(ranks);
  std::vector<double> micro_batch, update, step, library;
  const auto loss = [&](Index s, Index i) { return worker.loss(s, i); };
  for (Index round = 1; round <= 7; ++round) {
    worker.meet();  // from here on both ranks compute at once, as in a step
    const double four = seconds_of([&] {
      for (Index i = 0; i < 4; ++i) worker.compute(round, i);
    });
    micro_batch.push_back(of_the_slower(fast, four) / 4);
    update.push_back(seconds_of([&] { worker.update(); }));
    worker.meet();
    step.push_back(seconds_of([&] { worker.step(round); }));
    worker.meet();
    library.push_back(seconds_of([&] {
      train_in_parts(worker.adam, loss, {.micro_batches = micro_batches},
                     {.steps = worker.adam.steps() + 1, .what = ""}, ranks);
    }));
  }
  const double bytes = double(worker.row.size() * sizeof(real));
  return {{link, mean(micro_batch), mean(update), bytes}, mean(step), mean(library)};
}

const struct {
  const char* name;
  Link link;
} links[] = {{"as it is", {}},
             {"1 ms, 200 MB/s", {1e-3, 2e8}},
             {"5 ms, 50 MB/s", {5e-3, 5e7}},
             {"10 ms, 20 MB/s", {1e-2, 2e7}}};

// Of two ranks, the first prints.
std::vector<Measured> compare(Ranks& ranks) {
  use_threads(1);
  const bool prints = ranks.rank() == 0;
  if (prints) {
    std::printf("1. A GPT, 8 micro-batches, two ranks here. Measured: latency, bandwidth, a\n");
    std::printf("   micro-batch; predicted from these: a step; then a step, and the library's\n");
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

// A cluster to plan: GPT-2's smallest model, 124 million numbers; a micro-batch of 8 texts of 1024
// tokens takes 6 operations for each number and token, at 10^13 in a second.
constexpr double parameters = 124e6, tokens = 8 * 1024, all_micro_batches = 1024;
Costs cluster(Link link) {
  return {link, 6 * parameters * tokens / 1e13, 4 * parameters * 16 / 1e11, 4 * parameters};
}
const Link fast{1e-5, 1e10}, slow{5e-5, 1.25e8};

void plan() {
  std::printf(
      "\n2. GPT-2's smallest, 1024 micro-batches of 8 x 1024 tokens in a step: seconds, "
      "efficiency\n");
  std::printf("ranks                    1        4       16       64      256     1024\n");
  for (const auto& [name, link] :
       {std::pair{"10 us, 10 GB/s", fast}, {"50 us, 0.125 GB/s", slow}}) {
    const Costs costs = cluster(link);
    const double alone = costs.step(1, all_micro_batches);
    std::printf("%-18s", name);
    for (double r = 1; r <= 1024; r *= 4) std::printf(" %8.2f", costs.step(r, all_micro_batches));
    std::printf("\n%-18s", "");
    for (double r = 1; r <= 1024; r *= 4) {
      std::printf(" %6.0f %%", 100 * alone / r / costs.step(r, all_micro_batches));
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
  const Costs costs = cluster(fast);
  std::printf(
      "\n3. What changes                                             2 ranks     1024 ranks\n");
  const auto row = [](const char* what, const char* form, double a, double b) {
    std::printf("%-56s", what), std::printf(form, a), std::printf("    "), std::printf(form, b);
    std::printf("\n");
  };
  const auto latency = [&](double r) { return 2 * (r - 1) * costs.link.latency; };
  row("tokens of a step, at least (a micro-batch for each), k", "%10.0f", 2 * tokens / 1e3,
      1024 * tokens / 1e3);
  row("ring: waiting for latency, ms", "%10.2f", 1e3 * latency(2), 1e3 * latency(1024));
  row("ring: one message, KB", "%10.0f", costs.bytes / 2 / 1e3, costs.bytes / 1024 / 1e3);
  row("slowest rank, if times spread by 5 %: slower by, %", "%10.1f", 5 * largest_of(2),
      5 * largest_of(1024));
  row("days between failures, if one machine fails in 3 years", "%10.1f", 3 * 365. / 2,
      3 * 365. / 1024);
  row("Adam's state, MB of each rank, if it is divided (ZeRO 1)", "%10.1f",
      8 * parameters / 2 / 1e6, 8 * parameters / 1024 / 1e6);
}

plot::LineChart this_machine(const std::vector<Measured>& all) {
  plot::LineChart chart;
  chart.title = "A small GPT on this machine";
  chart.subtitle = "Lines: predicted, 8 micro-batches or one for each rank. Dots: measured on 2";
  chart.x_axis = {.name = "ranks", .log = true};
  chart.y_axis = {.name = "ms for a step", .log = true};
  for (std::size_t i = 0; i < all.size(); ++i) {
    plot::Series line{links[i].name, {}, {}};
    for (double r = 1; r <= 1024; r *= 2) {
      line.x.push_back(r),
          line.y.push_back(1e3 * all[i].costs.step(r, std::max(r, double(micro_batches))));
    }
    line.colour = plot::series_colour(i);
    chart.series.push_back(line);
    chart.series.push_back({"", {2}, {1e3 * all[i].step}, false, true, false, line.colour});
  }
  return chart;
}

plot::LineChart planned() {
  plot::LineChart chart;
  chart.title = "GPT-2's smallest on a cluster";
  chart.subtitle = "Predicted. 1024 micro-batches in a step";
  chart.x_axis = {.name = "ranks", .log = true};
  chart.y_axis = {.name = "efficiency, %", .low = 0, .high = 100};
  for (const auto& [name, link] :
       {std::pair{"10 us, 10 GB/s", fast}, {"50 us, 0.125 GB/s", slow}}) {
    const Costs costs = cluster(link);
    plot::Series line{name, {}, {}};
    for (double r = 1; r <= 1024; r *= 2) {
      line.x.push_back(r);
      line.y.push_back(100 * costs.step(1, all_micro_batches) / r /
                       costs.step(r, all_micro_batches));
    }
    chart.series.push_back(line);
  }
  return chart;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count > 1 && std::string(arguments[1]) == "processes") {
    return run_as_processes(2, [](Ranks& ranks) { compare(ranks); });
  }
  std::printf("Step 84: a cost model (takes about ten seconds)\n\n");
  std::vector<Measured> all;
  run_as_threads(2, [&](Ranks& ranks) {
    const std::vector<Measured> measured = compare(ranks);
    if (ranks.rank() == 0) all = measured;
  });
  plan();
  at_a_thousand();
  plot::Canvas canvas(1100, 440);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(8), 1, 2, 24);
  plot::draw(canvas, panels[0], this_machine(all));
  plot::draw(canvas, panels[1], planned());
  plot::write_png(canvas, "out/plots/phase8_scaling.png");
  std::printf("\nwrote out/plots/phase8_scaling.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
