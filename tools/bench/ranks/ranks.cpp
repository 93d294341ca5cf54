// `make bench ROWS=ranks`: two ranks of one thread each beside one process of two threads, and sums
// over ranks beside MPI's own. All in turn, medians of five.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "course/delayed_ranks.hpp"
#include "course/timing.hpp"
#include "tapestry/distributed/all_reduce.hpp"
#include "tapestry/distributed/mpi.hpp"
#include "tapestry/distributed/training.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/optim.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr int turns = 5;
// Slow enough that waiting is most of an exchange: what a backward pass can hide. Between ranks of
// one machine it is copying, which takes the time of the cores that compute.
constexpr NetworkLink slow_link = {1e-3, 1e9};

struct Gpt {
  Index batch, vocabulary, length, width, heads, layers;
  Index steps;  // of one run: a second or more, for threads that share loops need a while
};

void meet(Ranks& ranks) {
  real nothing = 0;
  all_reduce(ranks, std::span(&nothing, 1));
}

// A model that learns random ids: what one micro-batch costs, and the optimizer.
struct Job {
  Gpt size;
  Transformer model;
  AdamW adam;

  explicit Job(const Gpt& s) : Job(s, Random(42)) {}
  Job(const Gpt& s, Random random)
      : size(s),
        model({.vocab_size = s.vocabulary,
               .max_length = s.length,
               .d_model = s.width,
               .num_heads = s.heads,
               .num_layers = s.layers},
              random),
        adam(model.parameters(), {.learning_rate = 3e-4, .weight_decay = 0.01}) {}

  MicroBatch loss(Index rows, Random random) const {
    std::vector<std::int32_t> ids(static_cast<std::size_t>(rows * size.length));
    for (auto& id : ids) id = static_cast<std::int32_t>(random.randint(size.vocabulary));
    const Indices drawn({rows, size.length}, ids);
    return sum_of_losses(model(drawn), drawn);
  }

  // `micro_batches` of them, of the whole batch divided by `parts`.
  void train(Ranks& ranks, Index micro_batches, Index parts) {
    const auto loss_of = [&](Index step, Index i) {
      return loss(size.batch / parts, random_of(1, step, i, micro_batches));
    };
    const TrainingOptions options{.steps = adam.steps() + size.steps, .what = ""};
    train_in_parts(adam, loss_of, {micro_batches}, options, ranks);
  }
};

// Seconds of a step: by both ranks; by one process; by each rank alone with its half and nothing
// exchanged; by both ranks over the slow link.
struct Costs {
  double ranks = 0, process = 0, halves = 0, linked = 0;
};

double seconds_of(Ranks& ranks, const std::function<void()>& work) {
  meet(ranks);
  const double start = now();
  work();
  meet(ranks);
  return now() - start;
}

Costs measure(Ranks& ranks, const Gpt& size) {
  Job together(size), whole(size), half(size), apart(size);
  Delayed linked(ranks, slow_link);
  std::array<std::vector<double>, 4> seconds;
  for (int turn = 0; turn <= turns; ++turn) {  // the first one warms up
    use_threads(1);
    const double by_ranks = seconds_of(ranks, [&] { together.train(ranks, 2, 2); });
    const double by_halves = seconds_of(ranks, [&] { half.train(alone(), 1, 2); });
    const double by_linked = seconds_of(ranks, [&] { apart.train(linked, 2, 2); });
    use_threads(2);
    const double by_one = seconds_of(ranks, [&] {
      if (ranks.rank() == 0) whole.train(alone(), 1, 1);
    });
    if (turn == 0) continue;
    seconds[0].push_back(by_ranks), seconds[1].push_back(by_one), seconds[2].push_back(by_halves);
    seconds[3].push_back(by_linked);
  }
  const double steps = double(size.steps);
  return {median(seconds[0]) / steps, median(seconds[1]) / steps, median(seconds[2]) / steps,
          median(seconds[3]) / steps};
}

void print_steps(Ranks& ranks) {
  if (ranks.rank() == 0) {
    std::printf(
        "milliseconds of a GPT step, and of a sum of its gradients alone;\n"
        "over the link, a message takes 1 ms, and a gigabyte a second\n"
        "                    2 ranks  1 process         2 ranks              link:     link:\n"
        "                    of 1 thr  of 2 thr  ratio    apart   sum   2 ranks       sum\n");
  }
  for (const Gpt& size : {Gpt{32, 100, 6, 64, 4, 2, 1000},
                          {32, 100, 32, 128, 8, 4, 50},
                          {12, 65, 64, 128, 4, 4, 70},
                          {4, 65, 256, 384, 6, 6, 5}}) {
    const Costs costs = measure(ranks, size);
    const Job job(size);
    std::vector<real> gradient(static_cast<std::size_t>(job.model.num_parameters()));
    Delayed linked(ranks, slow_link);
    std::vector<double> sums, linked_sums;
    for (int turn = 0; turn < turns; ++turn) {
      sums.push_back(seconds_of(ranks, [&] { all_reduce(ranks, gradient); }));
      linked_sums.push_back(seconds_of(ranks, [&] { all_reduce(linked, gradient); }));
    }
    if (ranks.rank() != 0) continue;
    const std::string name = "B" + std::to_string(size.batch) + " L" + std::to_string(size.length) +
                             " d" + std::to_string(size.width) + " n" + std::to_string(size.layers);
    std::printf("%-19s %8.2f %9.2f %6.2f %8.2f %5.2f %9.2f %9.2f\n", name.c_str(),
                1e3 * costs.ranks, 1e3 * costs.process, costs.process / costs.ranks,
                1e3 * costs.halves, 1e3 * median(sums), 1e3 * costs.linked,
                1e3 * median(linked_sums));
    std::fflush(stdout);
  }
}

void print_sums(Ranks& ranks) {
  if (ranks.rank() == 0) {
    std::printf(
        "\nmilliseconds of a sum over %d ranks\n     numbers  fixed tree  MPI_Allreduce  ratio\n",
        ranks.size());
  }
  for (const int power : {10, 14, 16, 18, 20, 22, 24}) {
    std::vector<real> numbers(std::size_t(1) << power, 1);
    const int repeats = std::max(1, (1 << 20) >> power);
    std::vector<double> ours, theirs;
    for (int turn = 0; turn <= turns; ++turn) {
      const double tree = seconds_of(ranks, [&] {
        for (int i = 0; i < repeats; ++i) all_reduce(ranks, numbers);
      });
      const double mpi = seconds_of(ranks, [&] {
        for (int i = 0; i < repeats; ++i) {
          MPI_Allreduce(MPI_IN_PLACE, numbers.data(), int(numbers.size()), MPI_FLOAT, MPI_SUM,
                        MPI_COMM_WORLD);
        }
      });
      std::ranges::fill(numbers, real(1));  // sums grow
      if (turn > 0) ours.push_back(tree / repeats), theirs.push_back(mpi / repeats);
    }
    if (ranks.rank() != 0) continue;
    std::printf("%12zu %11.4f %14.4f %6.2f\n", numbers.size(), 1e3 * median(ours),
                1e3 * median(theirs), median(theirs) / median(ours));
  }
}

}  // namespace

int main() {
  return run_as_processes(2, [](Ranks& ranks) {
    print_steps(ranks);
    print_sums(ranks);
  });
}
