// The speed of training while other programs, started here, use the processors.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <set>

#include "course/timing.hpp"
#include "report.hpp"
#include "tapestry/error.hpp"
#include "tapestry/kernels.hpp"

namespace tapestry::bench {
namespace {

constexpr int runs = 5, steps = 50;

// Processes in busy loops while it is in scope.
class Load {
 public:
  explicit Load(int count) {
    for (int i = 0; i < count; ++i) start();
  }
  ~Load() {
    for (const pid_t process : processes_) {
      kill(process, SIGKILL);
      waitpid(process, nullptr, 0);
    }
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

 private:
  void start() {
    const pid_t parent = getpid(), child = fork();
    if (child < 0) throw Error(std::string("bench: cannot start a process: ") + strerror(errno));
    if (child > 0) return processes_.push_back(child);
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // however this program ends, by Ctrl-C, too
    if (getppid() != parent) _exit(1);
    for (volatile bool forever = true; forever;) continue;
  }

  std::vector<pid_t> processes_;
};

Cost run_once(const Contestant& training, int threads) {
  use_threads(threads);
  training.run();  // memory is allocated, threads are created
  const double start = now(), busy = processor_now();
  for (int step = 0; step < steps; ++step) training.run();
  return {now() - start, processor_now() - busy};
}

Cost median(std::array<Cost, runs> costs) {
  const auto of = [&](double Cost::* member) {
    std::ranges::nth_element(costs, costs.begin() + runs / 2, {}, member);
    return costs[runs / 2].*member;
  };
  return {of(&Cost::wall), of(&Cost::processor)};
}

}  // namespace

std::vector<Busy> measure_busy(int threads) {
  const int before = threads_in_use();
  const int processors = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const std::set<int> loads{0, 1, processors, 5 * processors};
  const Contestant training = induction_step();
  Ticker ticker(loads.size() * runs);
  std::vector<Busy> results;
  for (const int others : loads) {
    const Load load(others);
    std::array<Cost, runs> one, all;
    for (int run = 0; run < runs; ++run) {
      ticker.running("training beside busy processes: " + std::to_string(others));
      one[std::size_t(run)] = run_once(training, 1);
      all[std::size_t(run)] = run_once(training, threads);
    }
    results.push_back({others, threads, median(one), median(all)});
  }
  ticker.clear();
  use_threads(before);
  return results;
}

void print_busy(const std::vector<Busy>& results) {
  if (results.empty()) return;
  std::printf(
      "\ntraining beside busy processes: %d steps of `tapestry train induction`, medians of %d\n"
      "runs, in seconds of the clock and of processors; ratio: all threads over one thread\n"
      "busy     thr   clock  processors     thr   clock  processors   ratios\n",
      steps, runs);
  for (const Busy& busy : results) {
    std::printf("%4d %7d %7.3f %11.3f %7d %7.3f %11.3f %8.2f %6.2f\n", busy.others, 1,
                busy.one.wall, busy.one.processor, busy.threads, busy.all.wall, busy.all.processor,
                busy.all.wall / busy.one.wall, busy.all.processor / busy.one.processor);
  }
}

}  // namespace tapestry::bench
