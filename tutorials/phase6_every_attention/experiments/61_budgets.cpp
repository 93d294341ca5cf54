// An experiment for step 61: do its conclusions depend on the seeds and on the number of training
// steps? Ten seeds, two budgets; and what needs more steps gets more.
// Takes about six minutes of processor time.
#include <cstdio>
#include <vector>

#include "course/beyond_length.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;
using namespace tapestry::beyond_length;

namespace {

// A line: for each length, in per cent, the mean over the seeds, the smallest and the largest.
void print_line(Task task, std::size_t scheme, Index steps, Index seeds) {
  std::vector<std::vector<double>> shares(lengths.size());
  for (Index seed = 0; seed < seeds; ++seed) {
    const Transformer model = trained_model(task, static_cast<Positions>(scheme), seed, steps);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      shares[i].push_back(share_right(model, task, lengths[i]));
    }
  }
  std::printf("%-10s", schemes[scheme].c_str());
  for (const std::vector<double>& by_seed : shares) {
    std::printf("%s", mean_and_range(by_seed).c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
}

void print_head(Task task, Index steps, Index seeds) {
  std::printf("\n%s, %d steps, %d seeds\n          ", task_names[task], int(steps), int(seeds));
  for (const Index length : lengths) std::printf("  %4d words ", int(length));
  std::printf("\n");
}

}  // namespace

int main() try {
  std::printf("Experiment 61_budgets: trained on texts of 16 words. Right answers at the last 8\n");
  std::printf("words of longer texts, per cent: mean of the seeds, smallest and largest\n");
  for (const Index steps : {300, 1500}) {
    for (const Task task : {three_back, latest}) {
      print_head(task, steps, 10);
      for (std::size_t scheme = 0; scheme < schemes.size(); ++scheme) {
        print_line(task, scheme, steps, 10);
      }
    }
  }
  print_head(three_back, 6000, 3);
  for (const Positions positions : {Positions::none, Positions::alibi}) {
    print_line(three_back, static_cast<std::size_t>(positions), 6000, 3);
  }
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
